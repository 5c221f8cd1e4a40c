"""`from worldline.langgraph import WorldlineStore`: LangGraph's BaseStore over a memory.

Needs the extra `langgraph`; the implementation is in `surfaces/langgraph.py`.
"""

from worldline.surfaces.langgraph import WorldlineStore

__all__ = ["WorldlineStore"]
