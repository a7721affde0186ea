# Sourced by scripts/demo, scripts/test and scripts/check: makes the virtualenv in .venv and installs the project there.
# A stamp of pyproject.toml decides whether the installation is up to date.
set -eu
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
venv="${INSPECT_VENV:-.venv}"

install_project() { # install_project EXTRA
    stamp="$venv/.installed-$1"
    if [ ! -x "$venv/bin/python" ]; then
        "$python" -m venv "$venv"
    fi
    if ! cmp -s pyproject.toml "$stamp" 2>/dev/null; then
        echo "installing into $venv ..." >&2
        # CI installs the versions that were last seen to work together; everybody else the newest that fit.
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
            ${CI:+--constraint requirements/ci.txt} --editable ".[$1]" >&2
        cp pyproject.toml "$stamp"
    fi
}
