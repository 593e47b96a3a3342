#!/bin/sh
# Makes .venv and installs the course into it, at the versions of constraints.txt. Does nothing, and
# needs no network, when that is done already and neither the versions nor the folder have changed.
#
#   sh setup.sh [lab|grader|site|test]      each level holds the one before it
#   PYTHON=/path/to/python             chooses the Python; without it the first that fits is taken
set -eu
cd "$(dirname "$0")"
here=$(pwd -P)
level=${1:-lab}

case $level in
    lab) extras= levels=lab ;;
    grader) extras='[grader]' levels='lab grader' ;;
    site) extras='[grader,site]' levels='lab grader site' ;;
    test) extras='[grader,site,test]' levels='lab grader site test' ;;
    *) echo "setup.sh: there is no level '$level'; take lab, grader, site or test." >&2; exit 2 ;;
esac

# A virtual environment names its folder and its Python in its programs: moved, or with that Python
# gone, it is made anew.
usable() {
    [ "$(cat .venv/made-in 2>/dev/null)" = "$here" ] && .venv/bin/python -c '' 2>/dev/null
}

current() {
    cat constraints.txt pyproject.toml | cmp -s - ".venv/set-up-$level"
}

fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null
}

# Debian and Ubuntu keep the part that makes virtual environments in a package of its own.
complete() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

find_python() {
    candidates=${PYTHON:-python3.11 python3.12 python3.13 python3}
    incomplete=
    for name in $candidates; do
        fits "$name" || continue
        if complete "$name"; then
            python=$name
            return
        fi
        incomplete=$name
    done
    if [ -n "$incomplete" ]; then
        echo "$incomplete was found, but not what it needs to make a virtual environment." >&2
    else
        echo "The course needs Python 3.11, 3.12 or 3.13. None was found (tried: $candidates)." >&2
    fi
    cat >&2 <<'HELP'
What to install:
  Debian, Ubuntu   sudo apt install python3 python3-venv
  Fedora           sudo dnf install python3.13
  macOS            brew install python@3.13
Then run the same command again. A Python elsewhere: add PYTHON=/path/to/python to the command.
HELP
    exit 1
}

install() {
    # On a terminal pip shows how far it is; in a log only its errors matter.
    quiet=-qq
    if [ -t 1 ]; then quiet=; fi
    # shellcheck disable=SC2086  # an empty $quiet must vanish
    .venv/bin/python -m pip install $quiet --no-input --disable-pip-version-check \
        -c constraints.txt -e ".$extras"
}

usable && current && exit 0

if ! usable; then
    find_python
    echo "Making .venv with $("$python" --version) ..."
    "$python" -m venv --clear .venv
    echo "$here" > .venv/made-in
fi
echo "Installing the course ($level) into .venv; the first time takes some minutes ..."
if ! install; then
    echo "The installation stopped; the lines above say why. It needs the network this once." >&2
    echo "Run the same command again: what was downloaded is kept." >&2
    exit 1
fi
for done_level in $levels; do
    cat constraints.txt pyproject.toml > ".venv/set-up-$done_level"
done
