from worldline.read.kinds import asked_kinds, tags_of

__all__ = ["asked_kinds", "tags_of"]
