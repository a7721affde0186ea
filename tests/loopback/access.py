"""Who may read what, and the errors of the Hub with their headers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.loopback.repo import Repo
from tests.loopback.routes import Route
from tests.loopback.state import State
from tests.loopback.wire import Answer


def refusal(status: int, message: str, code: str | None = None, extra: Mapping[str, str] | None = None) -> Answer:
    """An error as the Hub words it: `X-Error-Message`, `X-Error-Code` where it has one, and a JSON body."""
    headers = {"Content-Type": "application/json; charset=utf-8", "X-Error-Message": message, **(extra or {})}
    if code:
        headers["X-Error-Code"] = code
    return Answer(status, headers, json.dumps({"error": message}).encode())


def missing_file(path: str, commit: str) -> Answer:
    """404 for a path that the commit does not have."""
    extra = {"X-Repo-Commit": commit}
    return refusal(404, "Entry not found", "EntryNotFound", extra) if path else refusal(404, "Not found", None, extra)


def missing_revision(revision: str | None) -> Answer:
    """404 for a revision that the repo does not have."""
    return refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")


def admit(state: State, route: Route, headers: Mapping[str, str]) -> Repo | Answer:
    """The repo of the route, or the answer that keeps the caller out.

    Anonymous callers get 401 for a missing repo and for a private one alike, callers with a token 404. Metadata
    of a gated repo stays readable; its files do not.
    """
    token = _token(headers)
    known = state.settings.tokens
    if token is not None and known is not None and token not in known:
        return refusal(401, "Invalid credentials in Authorization header")
    new = state.settings.renamed.get(route.repo)
    if new is not None:
        return Answer(307, {"Location": route.renamed(new)}, f"Temporary Redirect. Redirecting to {new}".encode())
    repo = state.repo(route.kind, route.repo)
    if repo is None or (repo.private and token not in repo.readers):
        if token is None:
            return refusal(401, "Invalid username or password.")
        return refusal(404, "Repository not found", "RepoNotFound")
    if repo.disabled:
        return refusal(403, "Access to this resource is disabled.")
    if repo.gated and route.name in ("resolve", "small") and token not in repo.readers:
        if token is None:
            message = f"Access to model {repo.name} is restricted. You must have access to it and be authenticated."
            return refusal(401, message, "GatedRepo")
        message = f"Access to model {repo.name} is restricted and you are not in the authorized list."
        return refusal(403, message, "GatedRepo")
    return repo


def _token(headers: Mapping[str, str]) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" and token else None
