"""Shapes of secrets: each usual kind is found, ordinary text is left alone, and time is linear."""

from __future__ import annotations

import base64
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clock import cpu
from worldline.write.gate import likely, redact, rules, screened
from worldline.write.given import Note

_MIX = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ"
_HEX = "0123456789abcdef"


def mix(size: int) -> str:
    """Letters and digits, as keys have them."""
    return (_MIX * (size // len(_MIX) + 1))[:size]


def hexed(size: int) -> str:
    """Hex digits."""
    return (_HEX * (size // 16 + 1))[:size]


def letters(size: int) -> str:
    """Letters only."""
    return ("abcdEFGHijklMNOPqrst" * (size // 20 + 1))[:size]


_PEM = "-----BEGIN {0}PRIVATE KEY-----\n" + mix(60) + "\n" + mix(20) + "==\n-----END {0}PRIVATE KEY-----"
_WIF = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"
SECRETS = {
    "aws access key": "AKIA" + "IOSFODNN7EXAMPL2",
    "aws secret key": "aws_secret_access_key = |" + mix(38) + "/+",
    "google api key": "AIza" + mix(35),
    "google client secret": "GOCSPX-" + mix(28),
    "google access token": "ya29." + mix(60),
    "azure storage key": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=|" + mix(86) + "==",
    "azure signature": "https://x.blob.core.windows.net/c?sv=2022&sig=|" + mix(40) + "%3D",
    "azure client secret": mix(3) + "8Q~" + mix(34),
    "digitalocean": "dop_v1_" + hexed(64),
    "github classic": "ghp_" + mix(36),
    "github fine-grained": "github_pat_" + mix(22) + "_" + mix(59),
    "gitlab": "glpat-" + mix(20),
    "npm": "npm_" + mix(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + mix(80),
    "docker": "dckr_pat_" + mix(27),
    "databricks": "dapi" + hexed(32),
    "vault": "hvs." + mix(90),
    "openai": "sk-" + mix(48),
    "openai project": "sk-proj-" + mix(80),
    "anthropic": "sk-ant-api03-" + mix(90) + "AA",
    "huggingface": "hf_" + letters(34),
    "slack bot": "xoxb-" + "123456789012-1234567890123-" + mix(24),
    "slack webhook": "https://hooks.slack.com/services/|T00000000/B00000000/" + mix(24),
    "discord bot": "M" + mix(23) + "." + mix(6) + "." + mix(27),
    "telegram bot": "123456789:AA" + mix(33),
    "twilio": "SK" + hexed(32),
    "sendgrid": "SG." + mix(22) + "." + mix(43),
    "mailgun": "key-" + hexed(32),
    "stripe": "sk_live_" + mix(24),
    "shopify": "shpat_" + hexed(32),
    "square": "sq0atp-" + mix(22),
    "notion": "ntn_" + mix(46),
    "linear": "lin_api_" + mix(40),
    "jwt": "eyJ" + mix(33) + ".eyJ" + mix(40) + "." + mix(43),
    "rsa key": _PEM.format("RSA "),
    "openssh key": _PEM.format("OPENSSH "),
    "pkcs8 key": _PEM.format(""),
    "wallet key": _WIF,
    "connection string": "postgres://|app:s3cr3tPw@db.example.com:5432/app",
    "basic-auth address": "https://|bob:hunter22@example.com/x",
    "ado connection": "Server=db;Database=x;User Id=sa;Password=|Sup3rGeheim;",
    "bearer header": "Authorization: Bearer |" + mix(40),
    "basic header": "Authorization: Basic |" + base64.b64encode(b"bob:hunter22").decode(),
    "password assigned": "password=|correct-horse",
    "password said": "The wifi password is |Tr0ub4dor&3",
    "password quoted": 'my password is "|correct horse battery"',
    "generic api key": "api_key: |" + mix(24),
    "card": "4111 1111 1111 1111",
    "amex": "378282246310005",
    "iban": "DE89 3704 0044 0532 0130 00",
    "one-time code": "Your verification code is |482913",
    "one-time code of nobody": "Hi Ana, your code is |493021. It expires soon",
    "one-time code first": "|G-482913 is your Google verification code",
    "pin": "the PIN for the card is |4821",
    "card code": "CVV: |123",
    "social security": "078-05-1120",
    "seed phrase": "seed phrase: |" + " ".join(["abandon"] * 11 + ["about"]),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_each_usual_kind_of_secret_is_taken_out_of_a_sentence(kind):
    """What stands behind the bar (or all of it) is gone, the words around it stay."""
    opening, _, secret = SECRETS[kind].rpartition("|")
    secret = secret.removesuffix(";").partition("@")[0].partition(" is your")[0]
    text, found = redact(f"Here it is, {SECRETS[kind].replace('|', '')} , and that was it.")

    assert found
    assert secret.strip('"') not in text
    assert text.startswith("Here it is, ")
    assert text.endswith("and that was it.")
    assert not opening or opening[:6] in text


def test_there_are_more_kinds_than_the_usual_ones():
    """The rule set knows well over forty kinds."""
    assert len(SECRETS) >= 44
    assert len({rule.kind for rule in rules()}) >= 60


@pytest.mark.parametrize("kind", SECRETS)
def test_what_was_redacted_is_not_redacted_again(kind):
    """A second look at a redacted text finds nothing."""
    once, _ = redact(SECRETS[kind].replace("|", ""))

    assert redact(once) == (once, ())


@pytest.mark.parametrize(
    "text",
    [
        "My zip code is 94103 and I was born in 1985.",
        "We changed the password yesterday, remember?",
        "The secret to a good soup is patience.",
        "Call me at 555-123-4567 or +49 170 1234567.",
        "Order 4111 arrived on 2023-05-08 at 14:30.",
        "She pinned the note: 4 eggs, 200 g of flour.",
        "The token of my appreciation: a small book.",
        "Bearer bonds were popular; the basic idea is simple.",
        "My dog's name is Basic, his brother is called Cookie.",
        "It is at https://example.com/a?page=2&key=short",
        "The PIN of the year: a golden fish.",
        "commit 3f2a9c1b7d8e4f5061728394a5b6c7d8e9f00112 fixed it",
        "The ISBN is 978-3-16-148410-0, the code name is Falcon 9000.",
        "password = request.form['password'], password = StringField(name)",
        "see sk-learn-like-things-and-other-words-of-that-sort",
        "1234 5678 9012 3456 is no card at all",
    ],
)
def test_ordinary_text_is_left_alone(text):
    """Words that stand near secrets are not secrets."""
    assert redact(text) == (text, ())


def _seconds(text: str) -> float:
    start = time.process_time()
    redact(text)
    took = time.process_time() - start
    return took if took < 0.5 else cpu(lambda: redact(text))


@pytest.mark.parametrize("kind", SECRETS)
def test_hostile_text_takes_linear_time(kind):
    """A secret cut short and repeated, in any share, costs about as much as ordinary text of that size."""
    whole = SECRETS[kind].replace("|", "")
    for part in (whole[:4], whole[: len(whole) // 2], whole[:-1]):
        assert _seconds((part * 60_000)[:60_000]) < 0.5, part[:12]


def test_every_hint_repeated_takes_linear_time():
    """No rule can be led to look at the same characters over and over."""
    for rule in rules():
        for hint in rule.hints:
            for between in ("", "-", " ", "="):
                text = ((hint + between) * 30_000)[:30_000]
                assert _seconds(text) < 0.5, (rule.kind, hint, between)


@pytest.mark.parametrize(
    "said",
    [
        "Mein Passwort lautet {}",
        "das Kennwort ist {}",
        "le mot de passe est {}",
        "la contraseña es {}",
        "a senha é {}",
    ],
)
def test_a_password_told_in_another_language_is_taken_out(said):
    """In words, without a colon, as people tell each other."""
    kept = redact(said.format("Sommer2024!x"))[0]
    assert "Sommer" not in kept
    assert redact("Das Passwort ist noch dasselbe wie immer")[0].endswith("wie immer")


def test_no_shape_asks_for_a_longer_word_than_it_needs():
    """A shape is passed over only in texts whose words are all shorter than its shortest match."""
    for rule in rules():
        if rule.word:
            assert re._parser.parse(rule.pattern.pattern, re.ASCII).getwidth()[0] >= rule.word, rule.kind
            assert not rule.pattern.search(" ".join("a" * (rule.word - 1) for _ in range(3))), rule.kind


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_what_is_looked_for_first_is_in_every_secret_of_its_shape(data):
    """Many texts together are passed over only where none of them can match the pattern itself."""
    rule = data.draw(st.sampled_from([rule for rule in rules() if rule.least.pattern]))
    secret = data.draw(st.from_regex(rule.pattern))

    assert rule.least.search(f"river\n{secret}\ngarden")
    assert rule in likely(["river", secret, "garden"])


def test_a_struct_is_screened_in_the_fields_that_are_kept():
    """Types and moments of a note are checked as such; its words, name and metadata lose their secrets."""
    key = "sk-abcdefghijklmnopqrstuvwxyz123456"
    note, found = screened(Note("learning", f"n {key}", f"use {key}", metadata={"k": key}))
    assert found == ("api key",) * 3
    assert (note.name, note.content) == ("n [redacted: api key]", "use [redacted: api key]")
    assert key not in str(note.metadata)


def test_shapes_that_many_texts_may_have_together_miss_nothing_of_each():
    """Whatever is found in one text alone is found among all of them, and plain texts hint at almost nothing."""
    texts = [secret.replace("|", "") for secret in SECRETS.values()]
    shapes = likely(texts)
    assert [redact(text, shapes) for text in texts] == [redact(text) for text in texts]
    assert len(likely(["we met at the river", "a quiet day"])) < len(rules()) / 10
