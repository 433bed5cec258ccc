"""Providers of OpenID Connect that an installation lists, and what one proves of whoever comes back from it.

Authlib does the protocol: code flow with PKCE, state and nonce, the ID token's signature and claims. Nothing is asked
but the configured issuer, and hosts that the operator names beside it.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.flask_client import FlaskIntegration, FlaskOAuth2App
from authlib.integrations.requests_client import OAuth2Session
from flask import Flask, current_app
from flask.typing import ResponseReturnValue
from joserfc.errors import JoseError
from requests import RequestException, Response

from leaderboard.config import Config
from leaderboard.errors import BadInput, Conflict, NotFound
from leaderboard.names import SLUG

SECONDS = 10.0  # that a provider may take for each answer
ANSWER_BYTES = 2**20
LONGEST_SUBJECT = 255  # characters, by the standard
# Signed with the provider's own key: a secret that both sides know proves less.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
KNOWN = {"title", "issuer", "client_id", "client_secret", "scope", "hosts"}
FAULTS = (AuthlibBaseError, JoseError, RequestException, RuntimeError, ValueError, KeyError, TypeError)


@dataclass(frozen=True, slots=True)
class Proven:
    """Who somebody is elsewhere. `subject` never changes; `name` is what a new account may be called."""

    provider: str
    issuer: str
    subject: str
    name: str


@dataclass(frozen=True, slots=True)
class Provider:
    """One section of the file. `hosts`: where it is fetched from beside the issuer's own host."""

    slug: str
    title: str
    issuer: str
    client_id: str
    client_secret: str
    scope: str
    hosts: frozenset[str]


class _Fetching(OAuth2Session):  # type: ignore[misc]  # Authlib has no types
    """Asks the provider's hosts only, follows no redirection and reads no long answer."""

    def __init__(self, hosts: frozenset[str], **settings: Any) -> None:
        super().__init__(**settings)
        self._hosts = hosts

    def request(self, method: str, url: str, **how: Any) -> Response:
        parts = urlsplit(url)
        if parts.netloc.lower() not in self._hosts or not _is_safe(url):
            raise ValueError(f"{parts.netloc} is not among the hosts of this provider")
        how.update(timeout=SECONDS, allow_redirects=False, stream=True)
        answer: Response = super().request(method, url, **how)
        content = answer.raw.read(ANSWER_BYTES + 1, decode_content=True)
        if len(content) > ANSWER_BYTES:
            raise ValueError("the answer is too long")
        answer._content = content  # what `stream` has left unread
        return answer


def init_app(app: Flask) -> None:
    """Reads the list of providers. Raises BadInput when it can't be read."""
    config: Config = app.extensions["config"]
    app.extensions["providers"] = {one.slug: (one, _client(one)) for one in _providers(config.oidc_file)}
    app.jinja_env.globals["providers"] = listed


def listed() -> list[tuple[str, str]]:
    """(slug, title) of every provider, in the order of the file."""
    return [(provider.slug, provider.title) for provider, _ in current_app.extensions["providers"].values()]


def begin(slug: str, back: str) -> ResponseReturnValue:
    """Sends the browser to the provider, which sends it on to `back`. Raises NotFound, or Conflict when it fails."""
    provider, client = _found(slug)
    try:
        _load(provider, client)
        answer: ResponseReturnValue = client.authorize_redirect(back)
    except FAULTS as error:
        raise _failure(provider, error) from error
    return answer


def finish(slug: str) -> Proven:
    """Who came back from the provider, by the request at hand. Raises NotFound, or Conflict when nothing is proven."""
    provider, client = _found(slug)
    claims = {
        "iss": {"essential": True, "value": provider.issuer},
        "aud": {"essential": True, "value": provider.client_id},
    }
    try:
        _load(provider, client)
        token = client.authorize_access_token(claims_options=claims)
        told = token["userinfo"]
        subject, name = told["sub"], told.get("name")
    except FAULTS as error:
        raise _failure(provider, error) from error
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
        raise Conflict(f"{provider.title} did not say who you are.")
    return Proven(slug, provider.issuer, subject, name[:60] if isinstance(name, str) else "")


def _found(slug: str) -> tuple[Provider, Any]:
    found: tuple[Provider, Any] | None = current_app.extensions["providers"].get(slug)
    if found is None:
        raise NotFound
    return found


def _load(provider: Provider, client: Any) -> None:
    """Reads what the provider says of itself, once; raises ValueError when it is somebody else."""
    said = client.load_server_metadata()
    if said.get("issuer") != provider.issuer:
        client.server_metadata.clear()
        raise ValueError(f"it calls itself {said.get('issuer')!r}")
    offered = said.get("id_token_signing_alg_values_supported") or ["RS256"]
    said["id_token_signing_alg_values_supported"] = [one for one in offered if one in ALGORITHMS]


def _failure(provider: Provider, error: Exception) -> Conflict:
    current_app.logger.warning("logging in with %s failed: %s", provider.slug, error)
    return Conflict(f"Logging in with {provider.title} did not work. Try again, or log in with your password.")


def _client(provider: Provider) -> Any:
    client = FlaskOAuth2App(
        FlaskIntegration(provider.slug),
        name=provider.slug,
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        server_metadata_url=f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": provider.scope, "code_challenge_method": "S256"},
    )
    client.client_cls = partial(_Fetching, provider.hosts)
    return client


def _providers(path: str) -> list[Provider]:
    if not path:
        return []
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"LEADERBOARD_OIDC_FILE: {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"LEADERBOARD_OIDC_FILE: {path}: {error}") from error
    return [_provider(f"{path}: [{slug}]", slug, section) for slug, section in given.items()]


def _provider(where: str, slug: str, section: Any) -> Provider:
    if not SLUG.fullmatch(slug) or not isinstance(section, Mapping):
        raise BadInput(f"LEADERBOARD_OIDC_FILE: {where}: expected a section such as [orcid]")
    if strange := sorted(section.keys() - KNOWN):
        raise BadInput(f"LEADERBOARD_OIDC_FILE: {where}: there is no setting {strange[0]!r}; there are {sorted(KNOWN)}")
    texts = {name: section.get(name, "") for name in KNOWN - {"hosts"}}
    for name in ("issuer", "client_id", "client_secret"):
        if not isinstance(texts[name], str) or not texts[name]:
            raise BadInput(f"LEADERBOARD_OIDC_FILE: {where}: {name} is missing")
    if not _is_safe(texts["issuer"]):
        raise BadInput(f"LEADERBOARD_OIDC_FILE: {where}: issuer: expected an address with https://")
    hosts = {urlsplit(texts["issuer"]).netloc.lower(), *map(str.lower, map(str, section.get("hosts", ())))}
    scope = str(texts["scope"] or "openid")
    if "openid" not in scope.split():
        raise BadInput(f"LEADERBOARD_OIDC_FILE: {where}: scope: openid must be among its words")
    return Provider(
        slug, str(texts["title"] or slug), texts["issuer"], texts["client_id"], texts["client_secret"], scope,
        frozenset(hosts),
    )  # fmt: skip


def _is_safe(address: str) -> bool:
    """Whether nobody in between can change what is fetched there: HTTPS, or this machine."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        return bool(parts.hostname)
    try:
        return parts.scheme == "http" and ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
