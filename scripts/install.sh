#!/bin/sh
# Installs the program, its man pages and completions from an unpacked package: ./install.sh [PREFIX], by default ~/.local
set -eu
cd "$(dirname "$0")"
prefix=${1:-$HOME/.local}

put() { # FOLDER NAME FILE
    mkdir -p "$prefix/$1"
    cp "$3" "$prefix/$1/$2"
}

put bin iophase iophase
chmod 755 "$prefix/bin/iophase"
for page in man/*.1; do
    if [ -e "$page" ]; then put share/man/man1 "$(basename "$page")" "$page"; fi
done
if [ -d completions ]; then
    put share/bash-completion/completions iophase completions/iophase.bash
    put share/fish/vendor_completions.d iophase.fish completions/iophase.fish
    put share/zsh/site-functions _iophase completions/iophase.zsh
fi
echo "iophase is in $prefix/bin"
