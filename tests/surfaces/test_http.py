"""REST: everything that Memory does, errors as problem documents, tokens, and requests that are refused."""

import inspect
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import orjson
import pytest

from serving import Rest, rest, running, web
from worldline import Memory
from worldline.errors import InvalidInput, Refused, WorldlineError
from worldline.surfaces import auth, http
from worldline.surfaces.rest import ROUTES
from worldline.surfaces.rest import document as described
from worldline.text import estimate_tokens

_NOT_SERVED = {
    "as_agent", "at", "confined", "enter", "scoped", "shared_with",  # bindings: query parameters
    "open", "close", "register", "reembed", "score_with", "drop_scorer",  # the operator's
    "absorb", "backup", "export", "import_",  # paths on the server
}  # fmt: skip
_OTHER_NAMES = {"equivalence_class": "same", "export_identity": "identity"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without tokens."""
    with running(str(tmp_path_factory.mktemp("http") / "me.db"), cold=True) as address:
        yield address


@pytest.fixture
def api(url: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A client in a scope of its own, so that tests do not see each other."""
    with rest(url) as client:
        yield Scoped(client, request.node.name)


class Scoped:
    """A client whose every request names a user."""

    def __init__(self, client: Rest, user: str) -> None:
        self._client, self._user = client, user

    def get(self, path: str, code: int = 200, **query: Any) -> Any:
        """The answer to a GET."""
        return self._client.get(path, code, **{"user": self._user, **query})

    def post(self, path: str, body: Any = None, code: int = 200, **query: Any) -> Any:
        """The answer to a POST."""
        return self._client.post(path, body, code, **{"user": self._user, **query})

    def note(self, name: str, content: str = "", type: str = "context", **more: Any) -> str:
        """The id of a new note."""
        return str(self.post("notes", {"type": type, "name": name, "content": content, **more})["id"])


# The verbs -----------------------------------------------------------------------------------------


def test_everything_that_memory_does_is_served() -> None:
    """Each public verb of Memory has a route, or a reason for having none."""
    verbs = {n for n, m in inspect.getmembers(Memory, inspect.isroutine) if not n.startswith("_")}
    served = {route.name for route in ROUTES}

    missing = {verb for verb in verbs - _NOT_SERVED if _OTHER_NAMES.get(verb, verb) not in served}
    assert missing == set()


def test_an_answer_does_not_wait_for_the_network(url: str) -> None:
    """On a connection that stays open, an answer is there as soon as it is made: within a few milliseconds."""
    with httpx2.Client(base_url=url, verify=False) as client:

        def seconds() -> float:
            began = time.perf_counter()
            assert client.get("/v1/scopes").status_code == 200
            return time.perf_counter() - began

        assert min(seconds() for _ in range(10)) < 0.03


def test_contract_story(api: Any) -> None:
    """An amended note answers differently on both axes, and its history tells why."""
    silver = api.note("Acme contract", "tier: silver", valid_from="2026-01-01")
    first = api.get(f"memories/{silver}")["known"]["from"]
    api.post(f"memories/{silver}/amend", {"content": "tier: gold", "valid_from": "2026-03-01"})

    assert api.get(f"memories/{silver}")["content"] == "tier: gold"
    assert api.get(f"memories/{silver}", valid_at="2026-03-03", known_at=first)["content"] == "tier: silver"
    assert api.get(f"memories/{silver}", exact="true")["content"] == "tier: silver"
    assert [v["change"] for v in api.get(f"memories/{silver}/history")] == ["put", "amended", "superseded"]
    assert api.get("memories", as_of="2020-01-01")["items"] == []
    api.post(f"memories/{silver}/correct", {"content": "tier: bronze"})
    assert api.get(f"memories/{silver}")["content"] == "tier: bronze"
    api.post(f"memories/{silver}/retire")
    assert api.get("memories")["items"] == []
    assert api.get("memories", include_superseded="true")["items"]


def test_facts_in_your_own_words(api: Any) -> None:
    """A relation meets what was read, on every route that takes facts."""
    api.post("remember", {"text": "I live in Berlin.", "said_at": "2026-01-01"})
    (read,) = (fact["content"] for fact in api.get("memories", type="Fact")["items"])
    me = read.removesuffix(" lives in Berlin")
    lives = {"subject": "I", "relation": "home", "object": "Porto", "since": "2026-03"}
    done = api.post("remember", {"text": "hello", "facts": [lives]})
    assert f"{me} lives in Porto: given; ends “{read}”" in done["changes"]
    wife = {"subject": "user", "relation": "wife", "object": "Rosa"}
    api.post("notes", {"type": "user", "name": "n", "facts": [wife]})
    api.post("facts", {"fact": {"subject": "me", "relation": "speaks", "object": "French"}})
    facts = {fact["content"] for fact in api.get("memories", type="Fact")["items"]}
    assert facts == {f"{me} lives in Porto", f"{me} is married to Rosa", f"{me} speaks French"}
    assert api.post("facts", {"fact": {"subject": "Ana", "relation": "likes"}}, 400)["title"]
    assert sum(api.get("readers").values()) >= 2
    assert api.post("reread", {"everything": True})["changed"] == 0


def test_words_facts_recall_and_why(api: Any) -> None:
    """What was said is recalled word for word with its reasons, and facts lead back to it."""
    fact = {"subject": "Acme", "predicate": "tier", "object": "gold"}
    api.post(
        "remember",
        {"text": "Acme is on gold now.", "speaker": "Ana", "said_at": "2026-03-05", "facts": [fact]},
    )
    api.post("facts", {"fact": {"subject": "Bo", "predicate": "lives in", "object": "Rome"}})
    facts = api.get("memories", type="Fact")["items"]

    found = api.post("recall", {"question": "Which tier is Acme on?", "explain": True})
    best = found["hits"][0]
    assert best["node"]["content"] == "Acme is on gold now."
    assert best["said_at"] == "2026-03-05T00:00:00Z"
    assert best["lanes"]
    assert best["factors"]
    assert found["trace"]
    chain = api.post("walk", {"question": "Where does Bo live?"})["chains"][0]
    assert api.get(f"memories/{chain['id']}")["name"] == chain["answer"] == "Rome"
    (hop,) = chain["hops"]
    assert api.get(f"memories/{hop['fact']}")["content"] == "Bo lives in Rome"
    assert api.get(f"memories/{hop['source']}")["name"] == "Bo"
    texts = [r["node"]["content"] for f in facts for r in api.get(f"memories/{f['id']}/why")["reasons"]]
    assert "Acme is on gold now." in texts
    messages = [{"role": "user", "content": "I moved to Porto."}]
    assert api.post("remember", {"messages": messages})["changed"]
    assert "either" in api.post("remember", {}, code=400)["detail"]
    assert api.post("resume") == []


def test_the_feed_comes_in_pages(api: Any) -> None:
    """The feed is cut at a limit, also within one large changeset; the marks lead through all of it, once."""
    api.post("load", {"notes": [{"type": "learning", "name": f"n{number}"} for number in range(7)]})
    api.post("notes", {"type": "context", "name": "last"})
    whole = api.get("changes")

    pages, mark = [], {}
    while True:
        page = api.get("changes", limit=3, **mark)
        pages.append(page["items"])
        if page["next"] is None:
            break
        mark = {"page": page["next"]}

    assert [len(page) for page in pages[:-1]] == [3] * (len(pages) - 1)
    assert [item for page in pages for item in page] == whole["items"]
    assert whole["next"] is None
    assert "mark of a page" in api.get("changes", page="nonsense", code=400)["detail"]


def test_links_walks_and_queries(api: Any) -> None:
    """Edges are written, walked, queried, retired and withdrawn."""
    a, b, c = (api.note(name, type="project") for name in "abc")
    api.post("links", {"src": a, "type": "relates_to", "dst": b})
    api.post("links", {"src": b, "type": "supports", "dst": c})

    assert len(api.get(f"memories/{a}/walk", depth=2)["nodes"]) == 3
    assert api.get("links", src=a, type="relates_to", dst=b)["type"] == "relates_to"
    steps = [
        {"follow": {"types": ["relates_to"]}},
        {"where": {"type": ["project"]}},
        {"connected": {"type": "supports"}},
    ]
    asked = {"seeds": [a], "steps": steps, "limit": 5}
    assert [n["id"] for n in api.post("query", asked)["nodes"]] == [b]
    assert "relates_to" in api.post("query", {**asked, "explain": True})["plan"]
    assert "exactly one" in api.post("query", {"steps": [{}]}, code=400)["detail"]
    api.post("links/retire", {"src": a, "type": "relates_to", "dst": b})
    api.post("links/correct", {"src": b, "type": "supports", "dst": c})
    assert api.get(f"memories/{b}/walk")["edges"] == []


def test_trust_merges_and_identity(api: Any) -> None:
    """Quarantine hides, confirm shows, and proposals are accepted, undone and rejected."""
    a, b = (api.note(name, type="user") for name in ("Ana", "Anna"))
    api.post(f"memories/{a}/quarantine", {"reason": "unsure"})
    assert [n["id"] for n in api.get("memories")["items"]] == [b]
    api.post(f"memories/{a}/confirm")

    (proposal,) = api.post("links", {"src": a, "type": "same_as", "dst": b})["proposals"]
    (named,) = api.get("merges")
    assert {named["a_name"], named["b_name"]} == {"Ana", "Anna"}
    assert api.post(f"merges/{proposal}/accept")["changed"]
    assert len(api.get(f"memories/{a}/same")) == 2
    assert set(api.get(f"memories/{a}/identity")["names"]) == {"Ana", "Anna"}
    assert api.post(f"merges/{proposal}/undo")["changed"]
    assert api.get("merges") == []
    assert [m["proposal"]["status"] for m in api.get("merges", status="all")] == ["undone"]


def test_feed_diff_undo_and_load(api: Any) -> None:
    """A load is seen in the feed and in a difference, and a write can be taken back."""
    notes = [{"type": "project", "name": "world"}, {"type": "learning", "name": "inside it", "inside": 0}]
    links = [{"src": 1, "type": "relates_to", "dst": 0}]
    assert api.post("load", {"notes": notes, "links": links})["changed"]
    worlds = api.get("worlds")

    assert [w["node"]["name"] for w in worlds["worlds"]] == ["world"]
    assert api.get("hash")["hash"] == worlds["hash"]
    assert {c["item"].get("name") for c in api.get("changes")["items"]} >= {"world", "inside it"}
    assert {n["name"] for n in api.get("diff", a="2026-01-01")["added"]} >= {"world"}
    done = api.post("notes", {"type": "context", "name": "by mistake"})
    api.post("undo", {"known_at": done["known_at"], "also": done["also"]})
    assert "by mistake" not in {n["name"] for n in api.get("memories")["items"]}
    assert api.get("span")["known"]["from"]


def test_care(api: Any, request: pytest.FixtureRequest) -> None:
    """Counts, proof, scopes and vectors over the network."""
    api.note("x")

    assert api.get("verify")["ok"] is True
    assert api.get("stats")["visible"]["context"] == 1
    assert request.node.name in api.get("scopes")["user"]
    assert api.post("flush") == {"count": 0}


def test_pages_filters_dry_runs_and_worlds(api: Any) -> None:
    """Lists page and filter by metadata, dry runs write nothing, and a world bounds reads."""
    for number in range(3):
        api.note(f"n{number}", metadata={"n": number})
    first = api.get("memories", limit=2)

    assert len(api.get("memories", limit=2, page=first["next"])["items"]) == 1
    assert [n["name"] for n in api.get("memories", metadata='{"n":1}')["items"]] == ["n1"]
    assert api.post("notes", {"type": "context", "name": "dry", "dry_run": True})["dry_run"]
    world = api.note("world", type="project")
    api.post("notes", {"type": "learning", "name": "inside"}, world=world)
    assert {n["name"] for n in api.get("memories", world=world)["items"]} == {"world", "inside"}


def test_recall_stays_within_its_budget(api: Any) -> None:
    """A recall's whole body stays within max_tokens; what `explain` adds has as much again, and no fewer hits."""
    for number in range(8):
        api.note(f"tea {number}", f"Green tea {number} steeps for three minutes. " * 20)
    for budget in (300, 1000, 3000):
        returned = []
        for explain in (False, True):
            body = api.post(
                "recall", {"question": "How long does tea steep?", "max_tokens": budget, "explain": explain}
            )
            assert estimate_tokens(http._json(body).body.decode()) <= budget * (2 if explain else 1)
            returned.append([hit["node"]["id"] for hit in body["hits"]])
        assert returned[0] == returned[1] != []


# What the documents say ----------------------------------------------------------------------------


def test_what_is_known_reaches_the_client(api: Any) -> None:
    """Answer, proof and confidence stand in the body; 150 tokens still hold the best hit; a context block too."""
    api.post("remember", {"text": "I live in Rome, near the river. " * 12, "speaker": "Ana"})
    found = api.post("recall", {"question": "Where does Ana live?", "max_tokens": 150})
    block = api.post("context", {"max_tokens": 200})

    assert found["answer"] == "Rome"
    assert found["hits"][0]["node"]["content"].startswith("I live in Rome")
    whole = api.post("recall", {"question": "Where does Ana live?"})
    assert whole["proof"][0]["text"] == "Ana lives in Rome"
    assert (whole["abstained"], 0 < whole["confidence"] <= 1) == (False, True)
    assert block["sections"][0]["lines"][0]["text"] == "Ana lives in Rome"


def test_openapi_describes_every_answer(url: str, api: Any) -> None:
    """The served document names each route once, and real answers fit its schemas."""
    document = web.get(f"{url}/openapi.json").json()
    assert document == orjson.loads(orjson.dumps(described()))
    operations = [o["operationId"] for methods in document["paths"].values() for o in methods.values()]
    assert len(operations) == len(set(operations)) == len(ROUTES)

    id_ = api.note("Acme", "tier: silver")
    api.post(f"memories/{id_}/amend", {"content": "tier: gold"})
    for path, template in (
        ("memories", "/v1/memories"),
        (f"memories/{id_}", "/v1/memories/{ref}"),
        (f"memories/{id_}/history", "/v1/memories/{ref}/history"),
        (f"memories/{id_}/why", "/v1/memories/{ref}/why"),
        (f"memories/{id_}/walk", "/v1/memories/{ref}/walk"),
        ("worlds", "/v1/worlds"),
    ):
        schema = document["paths"][template]["get"]["responses"]["200"]["content"]["application/json"][
            "schema"
        ]
        jsonschema.validate(api.get(path), {**schema, "components": document["components"]})
    (receipt,) = [api.post(f"memories/{id_}/retire")]
    jsonschema.validate(
        receipt, {"$ref": "#/components/schemas/Receipt", "components": document["components"]}
    )


@pytest.mark.parametrize(
    "kind", ["user", "agent", "app", "run", "session", "world", "valid_at", "known_at", "as_of"]
)
def test_an_empty_name_or_time_is_refused(api: Any, kind: str) -> None:
    """Neither an empty scope, world nor moment means everybody, everything or now."""
    api.note("Acme", "tier: silver")

    assert "Acme" not in str(api.get("memories", code=400, **{kind: ""}))


def test_openapi_is_true_of_lists_plans_times_and_scopes(url: str, api: Any) -> None:
    """Arrays are said to be arrays, a plan may come instead of a graph, and times and scopes say what they take."""
    document = web.get(f"{url}/openapi.json").json()
    id_ = api.note("Acme", "tier: silver")
    api.post("remember", {"text": "I live in Rome.", "speaker": "Ana"})

    def check(value: Any, method: str, template: str) -> None:
        answer = document["paths"][template][method]["responses"]["200"]["content"]["application/json"]
        jsonschema.validate(value, {**answer["schema"], "components": document["components"]})

    for path in ("conflicts", "episodes", "worlds", "changes", "span", "stats"):
        check(api.get(path), "get", f"/v1/{path}")
    check(api.get("people/Ana"), "get", "/v1/people/{who}")
    check(api.get("diff", a="2026-01-01"), "get", "/v1/diff")
    check(api.get(f"memories/{id_}/identity"), "get", "/v1/memories/{ref}/identity")
    check(api.post("query", {"seeds": [id_]}), "post", "/v1/query")
    check(api.post("query", {"seeds": [id_], "explain": True}), "post", "/v1/query")
    for explain in (False, True):
        check(
            api.post("recall", {"question": "Where does Ana live?", "explain": explain}), "post", "/v1/recall"
        )
    check(api.post("walk", {"question": "Where does Ana live?"}), "post", "/v1/walk")
    check(api.post("context", {}), "post", "/v1/context")
    parameters = {p["name"]: p["schema"] for p in document["paths"]["/v1/stats"]["get"]["parameters"]}
    assert parameters["user"] == {"type": "string", "minLength": 1}
    assert {"format": "date-time"} in parameters["valid_at"]["anyOf"]
    assert (
        document["paths"]["/v1/conflicts"]["get"]["responses"]["200"]["content"]["application/json"][
            "schema"
        ]["type"]
        == "array"
    )


def test_allow_names_every_method(url: str) -> None:
    """A method that a path does not know is answered with all that it does."""
    answer = web.delete(f"{url}/v1/links")

    assert answer.status_code == 405
    assert {"GET", "POST"} <= set(answer.headers["allow"].split(", "))


def test_every_error_has_a_status() -> None:
    """Each class of error maps to a status, the nearest class first."""

    def classes(root: type) -> Iterator[type]:
        for sub in root.__subclasses__():
            yield sub
            yield from classes(sub)

    for class_ in classes(WorldlineError):
        if class_.__module__ == "worldline.errors":
            assert any(issubclass(class_, known) for known in http.STATUS), class_
    keys = list(http.STATUS)
    assert all(not issubclass(later, earlier) for i, earlier in enumerate(keys) for later in keys[i + 1 :])


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "told"),
    [
        ("GET", "memories/zz", None, 400, "hex digits"),
        ("GET", "memories/" + "0" * 12, None, 404, "no memory"),
        ("GET", "memories/..%2f..%2fetc%2fpasswd", None, 404, ""),
        ("GET", "memories/x'%20OR%201=1--", None, 400, "not an id"),
        ("GET", "memories?limit=abc", None, 400, "limit"),
        ("GET", "memories?limit=5000", None, 400, "limit"),
        ("GET", "memories?page=x", None, 400, "mark"),
        ("GET", "memories?metadata=x", None, 400, "JSON object"),
        ("GET", "memories?vaild_at=2026-01-01", None, 400, "vaild_at"),
        ("GET", "memories?as_of=soon", None, 400, "2026-03-05"),
        ("GET", "memories?valid_at=2026-03-01T00:00+02:00", None, 400, "%2B"),
        ("GET", "timeline?topic=x&from=2026-03-01T00:00+02:00", None, 400, "%2B"),
        ("GET", "memories?user=", None, 400, ""),
        ("POST", "notes", {"type": "lesson", "name": "x"}, 400, "allowed here"),
        ("POST", "notes", {"type": "context", "name": "x", "colour": 1}, 400, "colour"),
        ("POST", "notes", {"type": "context", "name": 5}, 400, "name"),
        ("POST", "notes?as_of=2026-01-01", {"type": "context", "name": "x"}, 409, "another moment"),
        ("POST", "notes?nme=x", {"type": "context", "name": "x"}, 400, "nme"),
        ("POST", "links", {"src": "0" * 12, "type": "relates_to", "dst": "1" * 12}, 404, "no memory"),
        ("POST", "merges/00000000/accept", {}, 404, "proposal"),
        ("POST", "recall", {"question": "x", "max_tokens": 5}, 400, "max_tokens"),
        ("GET", "nonsense", None, 404, ""),
        ("POST", "stats", {}, 405, ""),
    ],
)
def test_errors_are_problem_documents(
    url: str, method: str, path: str, body: Any, status: int, told: str
) -> None:
    """What the caller can mend comes as problem+json with its status and what to do."""
    answer = web.request(method, f"{url}/v1/{path}", json=body)

    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert told in answer.json()["detail"]
    assert answer.json()["status"] == status
    assert "Traceback" not in answer.text


def test_other_pages_are_refused(url: str) -> None:
    """No CORS, JSON bodies only, and neither a foreign Origin nor a foreign Host."""
    note = '{"type":"context","name":"forged"}'
    post = f"{url}/v1/notes"

    assert web.post(post, content=note, headers={"content-type": "text/plain"}).status_code == 415
    assert web.get(f"{url}/v1/stats", headers={"origin": "http://evil.example"}).status_code == 403
    assert web.get(f"{url}/v1/stats", headers={"host": "evil.example"}).status_code == 403
    assert web.post(f"{url}/mcp", json={}, headers={"host": "evil.example"}).status_code == 403
    assert web.get(f"{url}/v1/stats", headers={"origin": url}).status_code == 200
    allowed = httpx2.options(post, headers={"origin": url, "access-control-request-method": "POST"})
    assert "access-control-allow-origin" not in allowed.headers
    assert "default-src 'none'" in web.get(url).headers["content-security-policy"]


def test_bodies_are_limited_and_checked(url: str) -> None:
    """A body that is too large, broken or no object is refused before the engine sees it."""
    json = {"content-type": "application/json"}

    large = b" " * (http.MAX_BODY + 1)
    for path in ("v1/notes", "mcp"):
        for content in (large, iter([large])):
            answer = web.post(f"{url}/{path}", content=content, headers=json, timeout=60)
            assert (answer.status_code, answer.json()["status"]) == (413, 413)
            assert "20 MiB" in answer.json()["detail"]
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["x-content-type-options"] == "nosniff"
    assert web.post(f"{url}/v1/notes", content=b"{", headers=json).status_code == 400
    assert web.post(f"{url}/v1/notes", content=b"[]", headers=json).status_code == 400
    assert web.post(f"{url}/v1/notes", content=b'"\xff"', headers=json).status_code == 400
    for half in (rb"a \ud800 b", rb"\ud83d", rb"\uDE00", rb"\ud83d\ude00 \udbff\u0041"):
        answer = web.post(f"{url}/v1/remember", content=b'{"text":"%b"}' % half, headers=json)
        assert (answer.status_code, "half of a surrogate pair" in answer.text) == (400, True), half
    whole = web.post(f"{url}/v1/remember", content=rb'{"text":"\ud83d\ude00"}', headers=json)
    assert whole.status_code == 200
    for number in (b"NaN", b"1e999"):
        body = b'{"text":"x","metadata":{"a":%b}}' % number
        assert web.post(f"{url}/v1/remember", content=body, headers=json).status_code == 400


def test_a_body_that_is_optional_may_be_missing(url: str) -> None:
    """As the OpenAPI document has it: where nothing is required, a POST without body and type is an empty one."""
    optional = [
        path
        for path, methods in web.get(f"{url}/openapi.json").json()["paths"].items()
        if "post" in methods and not methods["post"]["requestBody"]["required"] and "{" not in path
    ]
    assert "/v1/flush" in optional

    for path in optional:
        assert web.post(url + path).status_code == web.post(url + path, json={}).status_code != 415, path
    assert "type" in web.post(f"{url}/v1/notes").json()["detail"]
    assert web.post(f"{url}/v1/flush", content=b"{}").status_code == 415


def test_many_requests_at_once(url: str) -> None:
    """Requests run side by side in threads; none is lost, and the shell can write meanwhile."""
    with rest(url) as client, ThreadPoolExecutor(8) as pool:
        made = list(
            pool.map(
                lambda n: client.post("notes", {"type": "context", "name": f"busy {n}"}, user="busy"),
                range(40),
            )
        )

        assert all(receipt["changed"] for receipt in made)
        assert len(client.get("memories", user="busy", limit=100)["items"]) == 40


# Tokens --------------------------------------------------------------------------------------------


def test_tokens_open_their_own_tenant_only(tmp_path: Path) -> None:
    """Each token sees its tenant; a wrong one, or none, sees nothing but the page itself."""
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('ana = "ana-token-0123456789"\nbo = ["bo-token-0123456789", "bo-second-0123456789"]\n')
    tokens.chmod(0o600)
    with running(
        str(tmp_path / "me.db"), "--tokens", str(tokens), WORLDLINE_TOKEN="own-token-0123456789"
    ) as url:
        with (
            rest(url, "ana-token-0123456789") as ana,
            rest(url, "bo-second-0123456789") as bo,
            rest(url, "own-token-0123456789") as own,
        ):
            id_ = ana.post("notes", {"type": "context", "name": "Ana's"})["id"]
            assert bo.get("memories")["items"] == own.get("memories")["items"] == []
            bo.get(f"memories/{id_}", 404)
            assert len(ana.get("memories")["items"]) == 1
        for wrong in (None, "ana-token-012345678", "ana", "ana-token-0123456789x"):
            with rest(url, wrong) as nobody:
                assert "Bearer" in nobody.get("memories", 401)["detail"]
        assert (
            web.get(f"{url}/v1/stats", headers={"authorization": "Basic ana-token-0123456789"}).status_code
            == 401
        )
        assert web.get(url).status_code == 200


def test_only_this_machine_without_tokens() -> None:
    """An address that others can reach needs tokens."""
    with pytest.raises(Refused, match="--tokens"):
        auth.require_safe("0.0.0.0", auth.Tokens())
    auth.require_safe("127.0.0.1", auth.Tokens())
    auth.require_safe("::1", auth.Tokens())
    auth.require_safe("0.0.0.0", auth.Tokens([("0123456789abcdef", "default")]))


def test_tokens_files_are_checked(tmp_path: Path) -> None:
    """A file that others can read, a short token and a broken file are refused."""
    path = tmp_path / "tokens.toml"
    path.write_text('ana = "0123456789abcdef"\n')
    path.chmod(0o644)
    with pytest.raises(Refused, match="chmod 600"):
        auth.load(path, "default", {})
    path.chmod(0o600)
    assert auth.load(path, "default", {}).opens("Bearer 0123456789abcdef") == auth.AccessPass("ana")
    for text, told in (
        ('ana = "short"', "16 characters"),
        ("ana = 5", "a tenant has"),
        ("ana", "cannot read"),
    ):
        path.write_text(text)
        with pytest.raises(InvalidInput, match=told):
            auth.load(path, "default", {})


def test_serve_refuses_from_the_shell(tmp_path: Path) -> None:
    """An open address without tokens, and a port in use, are one clear line and exit code 1."""
    command = [sys.executable, "-m", "worldline", "serve", "--db", str(tmp_path / "me.db")]
    environ = {k: v for k, v in os.environ.items() if k != "WORLDLINE_TOKEN"}

    done = subprocess.run(
        [*command, "--host", "0.0.0.0"], capture_output=True, text=True, env=environ, check=False
    )

    assert done.returncode == 1
    assert "--tokens" in done.stderr
    assert "Traceback" not in done.stderr


def test_sleep_and_what_it_finds(api: Any) -> None:
    """Sleep runs over REST; people, episodes, conflicts, order and coverage can be asked for afterwards."""
    said = api.post("remember", {"text": "My sister Ana moved to Porto because of her job.", "speaker": "Maria",
                                 "said_at": "2026-01-05T10:00:00Z"})  # fmt: skip
    for town in ("Oslo", "Bergen"):
        fact = {
            "subject": "Dana",
            "predicate": "lives_in",
            "object": town,
            "functional": True,
            "valid_from": "2026-01-01",
        }
        api.post("facts", {"fact": fact})

    assert api.post("sleep", {"dry_run": True})["dry_run"]
    assert {done["name"] for done in api.post("sleep")["passes"]} >= {"surprise", "profiles"}
    assert api.post("sleep", {"passes": ["nonsense"]}, 400)["title"]
    assert not any(done["changes"] for done in api.post("sleep")["passes"])

    assert api.get("people/Maria")["name"] == "Maria"
    assert api.get("people/Nobody", 404)["title"]
    assert [episode["turns"] for episode in api.get("episodes")] == [1]
    assert [(found["entity"], found["predicate"]) for found in api.get("conflicts")] == [("Dana", "lives in")]
    assert said["id"] in [item["node"]["id"] for item in api.get("timeline", topic="Ana")]
    assert api.get("density", topic="Ana")["topic"] == "Ana"
    assert (
        api.post("explain", {"question": "Where is Ana?", "expect": said["id"]})["node"]["id"] == said["id"]
    )
    assert api.post(f"memories/{said['id']}/pin")["changed"]
    assert not api.post(f"memories/{said['id']}/pin")["changed"]
    assert api.post(f"memories/{said['id']}/unpin")["changed"]
    assert api.post(f"memories/{said['id']}/feedback", {"verdict": "useful"})["verb"] == "feedback"
    assert api.post(f"memories/{said['id']}/feedback", {"verdict": "great"}, 400)["title"]
