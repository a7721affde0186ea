"""What a Hub's refusal means, in words, and what to do next.

The Hub answers 401 to an anonymous caller for a repo that is missing and for one that is private, so that nobody can
tell them apart; `X-Error-Code` tells the rest. The rules are those of huggingface_hub's `hf_raise_for_status`.
"""

from __future__ import annotations

import json

from inspector.errors import SourceError
from inspector.escape import terminal
from inspector.net.exchange import Answer
from inspector.net.failures import shown
from inspector.records import dataclass

_WIDTH = 200
"""Characters of a server's own words that are shown."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of the Hub at `endpoint`; `page` is the repo's address for people.

    `below` is what followed the revision in an address: a path, or the rest of a branch with slashes.
    """

    repo: str
    revision: str
    page: str
    endpoint: str
    with_token: bool
    path: str | None = None
    below: str | None = None

    @property
    def place(self) -> str:
        """The file or the repo."""
        return terminal(f"{self.repo}/{self.path}" if self.path else self.repo, _WIDTH)


def words(answer: Answer) -> str:
    """The server's own message, safe to print: a header, the `error` of a JSON body, or the body's first characters."""
    message = answer.headers.get("x-error-message", "")
    body = answer.body.decode("utf-8", "replace").strip()
    if not message and body.startswith("{"):
        try:
            value = json.loads(body)
            message = value.get("error") if isinstance(value.get("error"), str) else ""
        except (ValueError, RecursionError):
            message = ""
    return terminal((message or body)[: 2 * _WIDTH])[:_WIDTH]


def explain(answer: Answer, asked: Asked) -> SourceError:
    """The error for a refusal by the Hub's own host."""
    code, said, status = answer.headers.get("x-error-code", ""), words(answer), answer.status
    lower = said.lower()
    if code == "RevisionNotFound":
        advice = f"{asked.page}/tree/main lists its branches and tags."
        if asked.below is not None:
            branch = f"{asked.revision}/{asked.below}"
            advice += f" A branch with slashes is written {terminal(f'{asked.repo}@{branch}', 200)}."
        return SourceError(asked.place, f"has no revision {terminal(asked.revision, 100)}", advice)
    if code == "EntryNotFound":
        return SourceError(asked.place, "no such file in the repo at this revision", "Check the path.")
    if code == "GatedRepo" or (status in (401, 403) and "restricted" in lower):
        return _gated(asked)
    if status == 401 and asked.with_token and ("credentials" in lower or "expired" in lower or "token" in lower):
        advice = "Run `hf auth login`, or check HF_TOKEN and --token; an unset token reads public repos."
        return SourceError(asked.endpoint, f"the token is not valid ({said})", advice)
    if status == 403 and "disabled" in lower:
        return SourceError(asked.place, "the Hub has disabled this repo", f"{asked.page} may say why.")
    if code == "RepoNotFound" or status == 401 or (status == 404 and not asked.path):
        return _not_found(asked, status)
    if status == 404:
        return SourceError(asked.place, "no such file in the repo at this revision", "Check the path.")
    if status == 403:
        advice = "A fine-grained token needs read access to this repo." if asked.with_token else "Try with a token."
        return SourceError(asked.place, f"access is refused ({said})" if said else "access is refused", advice)
    return _failed(answer, asked, said)


def _gated(asked: Asked) -> SourceError:
    if asked.with_token:
        message = "is gated, and the account of this token has not been granted access"
        return SourceError(asked.place, message, f"Accept the conditions at {asked.page}, or wait for the approval.")
    advice = f"Accept the conditions at {asked.page}, then `hf auth login` or set HF_TOKEN."
    return SourceError(asked.place, "is gated, and no token was given", advice)


def _not_found(asked: Asked, status: int) -> SourceError:
    if asked.with_token:
        message = "no such repo, or this token's account may not see it"
        return SourceError(asked.repo, f"{message} (status {status})", "Check the name, --repo-type and the token.")
    message = "no such repo, or it is private and no token was given"
    advice = "Check the name and --repo-type; for a private repo `hf auth login` or set HF_TOKEN."
    return SourceError(asked.repo, f"{message} (status {status})", advice)


def _failed(answer: Answer, asked: Asked, said: str) -> SourceError:
    status, host = answer.status, shown(answer.url)
    if status == 429:
        advice = "Wait five minutes." if asked.with_token else "Wait five minutes, or use a token: its limit is higher."
        return SourceError(asked.endpoint, "too many requests from here (status 429)", advice)
    if status == 407:
        return SourceError(host, "the proxy wants a login (status 407)", "Put it into https_proxy.")
    said = f": {said}" if said else ""
    request = answer.headers.get("x-request-id", "")
    number = f" (request {terminal(request, 60)})" if request else ""
    if status >= 500:
        return SourceError(host, f"the server failed with status {status}{said}{number}", "Try again later.")
    return SourceError(host, f"status {status}{said}{number}", "Check HF_ENDPOINT and the name.")


def cdn(answer: Answer, asked: Asked) -> SourceError:
    """The error for a refusal by the host that stores the bytes, after a fresh URL did not help either."""
    said = words(answer)
    message = f"the storage at {shown(answer.url).split('/')[2]} refuses with status {answer.status}"
    return SourceError(asked.place, f"{message}: {said}" if said else message, "Try again; then report these words.")
