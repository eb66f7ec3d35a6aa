#!/bin/sh
# examples.sh DIRECTORY ROOT PROGRAM...: runs programs DIRECTORY/example-NAME-SCALAR, shows what
# they print, and makes one page of it, DIRECTORY/examples.html: for each example what its source
# says on top, its pictures, its printed lines. Fails with the first program that fails, and with
# a picture that has no title or no line of what to see, text that leaves its page, or a color
# without a dark counterpart.
set -u
directory=$1
root=$2
shift 2
page=$directory/examples.html

escape() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' "$@"; }

# The width of a letter is taken as 0.52 of its size, one of Helvetica's usual ones.
look_at() { # look_at PICTURE PRINTED
    awk -v name="$1" '
        function value(key) {
            if (!match($0, " " key "=\"[^\"]*\"")) return ""
            return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 4)
        }
        function bad(what) { print "FAIL: " name ": " what; failed = 1 }
        /^<svg/ { width = value("width") + 0; height = value("height") + 0 }
        /^<title>./ { titles++ }
        /^\[fill=/ { split($0, part, "\""); dark[part[2]] = 1 }
        /^<g transform="translate/ {
            split($0, at, /[ ()]/)
            upright = 1; left = at[3]; top = at[4]
        }
        /^<\/g>/ { upright = 0 }
        /^<text/ {
            texts++
            text = $0
            gsub(/<[^>]*>/, "", text)
            gsub(/&[#a-z0-9]*;/, "x", text)
            long = 0.52 * value("font-size") * length(text)
            anchor = value("text-anchor")
            from = anchor == "start" ? 0 : anchor == "end" ? -long : -long / 2
            x = value("x") + 0; y = value("y") + 0
            if (upright) { # x runs upwards
                low_x = left + y - value("font-size"); high_x = left + y
                low_y = top - x - from - long; high_y = top - x - from
            } else {
                low_x = x + from; high_x = low_x + long
                low_y = y - value("font-size"); high_y = y
            }
            if (low_x < 0 || high_x > width || low_y < 0 || high_y > height) bad("out: " text)
        }
        {
            color = value("fill")
            if (color ~ /^#/ && !(color in dark)) bad(color " has no dark counterpart")
            color = value("stroke")
            if (color ~ /^#/ && !(color in dark)) bad(color " has no dark counterpart")
        }
        END {
            if (titles != 1 || texts < 2) bad("no title or no text")
            exit failed
        }' "$1" || return 1
    see=$(sed -n 's/^to see: //p' "$2")
    if [ -z "$see" ] || ! grep -qF ">$see</text>" "$1"; then
        echo "FAIL: $1: it does not say what to see, as its program does"
        return 1
    fi
}

begin() { # begin NAME: the part of the page that all scalars share
    echo "<h2 id=\"$1\">$1</h2>"
    echo "<pre class=\"about\">"
    awk '{ last = sub(/ *\*\/.*/, ""); sub(/^\/\* |^   /, ""); print; if (last) exit }' \
        "$root/examples/$1.c" | escape
    echo "</pre>"
}

{
    cat <<'END'
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>mimicdyn.h: what the examples draw and print</title>
<style>
:root { color-scheme: light dark }
body { max-width: 960px; margin: 2em auto; padding: 0 1em; font-family: sans-serif }
pre { overflow-x: auto; font-size: 12px; line-height: 1.4 }
pre.about { font-family: inherit; font-size: 15px; white-space: pre-wrap }
svg { max-width: 100%; height: auto }
nav a { margin-right: 1em }
</style>
<h1>What the examples draw and print</h1>
<nav>
END
    for program in "$@"; do
        name=${program#example-}
        echo "${name%-*}"
    done | uniq | sed 's/.*/<a href="#&">&<\/a>/'
    echo "</nav>"
} >"$page"
before=
for program in "$@"; do
    name=${program#example-}
    scalar=${name##*-}
    name=${name%-*}
    printed=$directory/$program.txt
    picture=$directory/$name-$scalar.svg
    echo "== $name, $scalar"
    rm -f "$picture"
    "$directory/$program" "$picture" >"$printed"
    code=$?
    cat "$printed"
    [ $code -eq 0 ] || exit $code
    {
        [ "$name" = "$before" ] || begin "$name"
        [ "$name" = "$before" ] && open='' || open=' open'
        before=$name
        echo "<details$open><summary>$scalar</summary>"
        [ ! -e "$picture" ] || cat "$picture"
        echo "<pre>"
        escape "$printed"
        echo "</pre></details>"
    } >>"$page"
    [ ! -e "$picture" ] || look_at "$picture" "$printed" || exit 1
done
echo "all of it on one page: $page"
