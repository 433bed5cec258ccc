"""A real provider of OpenID Connect beside a test, made of Authlib's own server parts."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.integrations.sqla_oauth2 import OAuth2AuthorizationCodeMixin, OAuth2ClientMixin
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, request
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server

__all__ = ["CLIENT", "SECRET", "Provider", "provider"]

CLIENT, SECRET = "the leaderboard", "a secret that only the tests know"


@dataclass
class Provider:
    """Whoever is sent there is `subject` and consents at once. `claims` change what its ID tokens say."""

    issuer: str
    redirect_uri: str
    subject: str = "0000-0002-1825-0097"
    name: str = "Grace"
    claims: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)  # what it says of itself instead
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "1", "alg": "RS256"}))
    signs_with: RSAKey | None = None  # another key than the one that it publishes
    codes: dict[str, "Code"] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)  # paths

    def listed_in(self, folder: Path, **more: str) -> str:
        """A file that lists it as [lab]."""
        settings = {"title": "The lab", "issuer": self.issuer, "client_id": CLIENT, "client_secret": SECRET, **more}
        path = folder / "providers.toml"
        path.write_text("[lab]\n" + "".join(f'{name} = "{value}"\n' for name, value in settings.items()))
        return str(path)


class Code(OAuth2AuthorizationCodeMixin):  # type: ignore[misc]  # Authlib has no types
    """What a code was given for."""

    acr = amr = None

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def _client(redirect_uri: str) -> OAuth2ClientMixin:
    client = OAuth2ClientMixin()
    client.client_id, client.client_secret = CLIENT, SECRET
    client.set_client_metadata(
        {
            "redirect_uris": [redirect_uri], "scope": "openid", "response_types": ["code"],
            "grant_types": ["authorization_code"], "token_endpoint_auth_method": "client_secret_basic",
        }
    )  # fmt: skip
    return client


def _application(own: Provider) -> Flask:  # noqa: C901  # its parts are counted, and each is a line or two
    app = Flask("provider")
    client = _client(own.redirect_uri)
    server = AuthorizationServer(app, query_client=lambda name: client if name == CLIENT else None,
                                 save_token=lambda *_: None)  # fmt: skip

    class Grant(AuthorizationCodeGrant):  # type: ignore[misc]  # Authlib has no types
        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic",)

        def save_authorization_code(self, code: str, request: Any) -> None:
            names = ("redirect_uri", "scope", "nonce", "code_challenge", "code_challenge_method")
            values = {name: request.payload.data.get(name) for name in names}
            own.codes[code] = Code(**values, auth_time=int(time.time()))

        def query_authorization_code(self, code: str, _client: Any) -> Code | None:
            return own.codes.get(code)

        def delete_authorization_code(self, authorization_code: Code) -> None:
            own.codes = {name: one for name, one in own.codes.items() if one is not authorization_code}

        def authenticate_user(self, _code: Code) -> str:
            return own.subject

    class Identified(OpenIDCode):  # type: ignore[misc]  # Authlib has no types
        def exists_nonce(self, _nonce: str, _request: Any) -> bool:
            return False

        def resolve_client_private_key(self, _client: Any) -> RSAKey:
            return own.signs_with or own.key

        def get_client_algorithm(self, _client: Any) -> str:
            return "RS256"

        def get_client_claims(self, _client: Any) -> dict[str, Any]:
            return {"iss": own.issuer}

        def generate_user_info(self, user: str, _scope: str) -> UserInfo:
            return UserInfo(sub=user, name=own.name, **own.claims)

    server.register_grant(Grant, [Identified(), CodeChallenge(required=True)])

    @app.before_request
    def note() -> None:
        own.asked.append(request.path)

    @app.get("/.well-known/openid-configuration")
    def configuration() -> Any:
        places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return {
            "issuer": own.issuer,
            **{name: f"{own.issuer}/{path}" for name, path in places.items()},
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "none", "HS256"],
            **own.metadata,
        }

    @app.get("/keys")
    def keys() -> Any:
        return {"keys": [own.key.as_dict(private=False)]}

    @app.get("/authorize")
    def authorize() -> Any:
        grant = server.get_consent_grant(end_user=own.subject)
        return server.create_authorization_response(grant_user=own.subject, grant=grant)

    @app.post("/token")
    def token() -> Any:
        return server.create_token_response()

    return app


@contextmanager
def provider(redirect_uri: str) -> Iterator[Provider]:
    """One on a free port of 127.0.0.1, which knows the site's one address to come back to."""
    own = Provider("", redirect_uri)
    running = make_server("127.0.0.1", 0, _application(own), threaded=True)
    own.issuer = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    try:
        yield own
    finally:
        running.shutdown()
        thread.join()
        running.server_close()
