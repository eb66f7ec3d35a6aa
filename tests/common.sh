# What the scripts of the tests share; they source it: . "$(dirname "$0")/common.sh"
set -u
warnings="-Wall -Wextra -pedantic -Wconversion -Wdouble-promotion -Wshadow -Wundef -Wvla -Werror"
failed=0

# need TOOL...: ends with 77, which ctest reports as not run, unless all of them are here.
need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null 2>&1 || { echo "not run: no $tool here"; exit 77; }
    done
}

# quick COMPILER: flags that take a third to three quarters off what gcc's front end needs with
# warnings: how macros expanded, for messages, and a warning for which header.sh asks clang in every
# configuration, and gcc in one. Nothing for others.
quick() {
    if "$1" -ftrack-macro-expansion=0 -fsyntax-only -x c /dev/null 2>/dev/null; then
        echo "-ftrack-macro-expansion=0 -Wno-misleading-indentation"
    fi
}

# has_scalar FILE SCALAR: fails unless the object or program was built with it, by the name of the
# symbol that spells the knobs.
has_scalar() {
    grep -q "mimicdyn_$2_tree_" "$1" || fail "$1 was not built with $2"
}

# fail TEXT...: says what is wrong and goes on; the script ends with `exit $failed`.
fail() {
    echo "FAIL: $*"
    failed=1
}
