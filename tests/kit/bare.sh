#!/bin/sh
# bare.sh [SUITE...]: runs the commands of the README on a machine without installed packages. The script builds a minimal
# Debian root (apt, git, make, gcc and what these depend on), clones HEAD into it and runs there:
#   make test    as an ordinary user, who may install nothing: it must name the missing packages at once
#   make run     as root; it installs its packages
#   make test    as root; it installs its packages. Without the suites AS_USER
#   make test    as an ordinary user, the suites AS_USER: root may read and write what permissions forbid
# SUITE...: only these suites. JOBS=N: as for make test. KEEP=1 leaves the root in build/bare/root.
#
# The results come to build/results. The last line is "N passed, N failed" of all suites that ran.
# Status: 0 all passed, 1 something failed, 3 this machine cannot build a root: the suites ran on it directly, and the
# last line is "NOT BARE: reason".
#
# The root takes the sources, keys, proxies and preferences of apt from this machine. build/bare/archives keeps the packages for
# the next run. Mounts and processes are in namespaces that end with each command, so nothing remains of them.
set -u
cd "$(dirname "$0")/../.." || exit 1
# The suites in which it matters who the user is: they make files, folders, pipes and sockets, meet their permissions and
# limits, look at /proc, start other processes, or install.
AS_USER='cli install runner example bench file hostile cache remote corners cycles hdi pool budget threads onnx_reader ohnn_codes'
folder=$(pwd)/build/bare
root=$folder/root
clone=/home/nnrt/nnrt # inside the root
passed=0 failed=0
mkdir -p "$folder/archives"

step() {
    printf '\nbare: %s (%s)\n' "$1" "$(date +%H:%M:%S)"
}

fault() {
    failed=$((failed + 1))
    echo "FAIL bare: $*"
}

# ---- can a root be built here? ----

# Prints why not.
reason() {
    if [ "$(uname -s)" != Linux ] || ! command -v apt-config >/dev/null 2>&1; then
        echo 'this machine has no apt'
    elif [ "$(id -u)" -ne 0 ]; then
        echo 'only root may build one'
    elif ! command -v unshare >/dev/null 2>&1 || ! unshare --mount --pid --fork mount -t proc proc /proc 2>/dev/null; then
        echo 'this machine permits no mounts'
    elif ! sh tools/need.sh mmdebstrap >&2; then
        echo 'mmdebstrap cannot be installed'
    fi
}

not_bare() { # reason
    echo "bare: no root can be built, $1: the suites run on this machine"
    make --no-print-directory test ${only:+ONLY="$only"} || failed=1
    echo "NOT BARE: $1"
    [ "$failed" -eq 0 ] && exit 3
    exit 1
}

# ---- building the root ----

# The machine's apt configuration of package sources, without its hooks around an installation.
copy_apt() { # to
    etc=$1/etc/apt
    rm -rf "$1" && mkdir -p "$etc/apt.conf.d" || return
    for name in auth.conf auth.conf.d keyrings preferences preferences.d sources.list sources.list.d trusted.gpg trusted.gpg.d; do
        [ ! -e "/etc/apt/$name" ] || cp -RL "/etc/apt/$name" "$etc/" || return
    done
    apt-config dump | grep '^Acquire::' | grep -Ev '^Acquire::(IndexTargets|CompressionTypes|Changelogs|cdrom)' >"$etc/apt.conf.d/90machine"
    cat "$etc"/sources.list.d/* "$etc/sources.list" 2>/dev/null >"$folder/sources"
    sed -n 's/.*[Ss]igned-[Bb]y[:=] *\(\/[^] ]*\).*/\1/p' "$folder/sources" | sort -u | while read -r key; do
        [ ! -f "$key" ] || { mkdir -p "$1$(dirname "$key")" && cp -L "$key" "$1$key"; }
    done
    if grep -q 'https:' "$folder/sources"; then # nobody else may read the certificates: the root has no ca-certificates
        mkdir -p "$etc/certificates" && cp -L /etc/ssl/certs/ca-certificates.crt "$etc/certificates/" &&
            echo 'Acquire::https::CaInfo "/etc/apt/certificates/ca-certificates.crt";' >>"$etc/apt.conf.d/90machine"
    fi
}

build_root() {
    rm -rf "$root"
    # shellcheck disable=SC1091
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    copy_apt "$folder/apt" && : >"$folder/no-sources" || return
    mmdebstrap --quiet --mode=root --variant=apt --include=git,make,gcc --skip=essential/unlink \
        --setup-hook="cp -R '$folder/apt/.' \"\$1\" && mkdir -p \"\$1/var/cache/apt/archives\"" \
        --setup-hook="find '$folder/archives' -name '*.deb' -exec cp -l -t \"\$1/var/cache/apt/archives\" {} +" \
        --customize-hook="find \"\$1/var/cache/apt/archives\" -name '*.deb' -exec cp -n -t '$folder/archives' {} +" \
        --customize-hook="cp /etc/hosts \"\$1/etc/hosts\"" \
        --customize-hook="chroot \"\$1\" useradd --create-home nnrt" \
        "$codename" "$root" "$folder/no-sources"
}

# inside USER COMMAND: runs it in the clone, without the environment of this machine but for proxies
inside() {
    # shellcheck disable=SC2016,SC2046  # the text is for the shell inside the namespaces; proxies are several words
    unshare --mount --pid --fork --kill-child sh -c '
        set -e
        root=$1 archives=$2 clone=$3 user=$4 command=$5
        shift 5
        mount -t proc proc "$root/proc"
        mount -t tmpfs -o mode=755 tmpfs "$root/dev"
        for name in null zero full random urandom tty; do
            : >"$root/dev/$name"
            mount --bind "/dev/$name" "$root/dev/$name"
        done
        mkdir "$root/dev/pts" "$root/dev/shm"
        mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        ln -s pts/ptmx "$root/dev/ptmx"
        ln -s /proc/self/fd "$root/dev/fd"
        for n in 0,stdin 1,stdout 2,stderr; do ln -s "/proc/self/fd/${n%,*}" "$root/dev/${n#*,}"; done
        mount --bind "$archives" "$root/var/cache/apt/archives"
        trap "exit 1" HUP INT TERM # the first process of the namespace: without a trap it would ignore them
        chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" \
            runuser -u "$user" -- sh -c "cd $clone && HOME=~$user && $command" &
        wait $!' \
        - "$root" "$folder/archives" "$clone" "$1" "$2" $(env | grep -i '^[a-z]*_proxy=') </dev/null
}

# count LOG: adds the last line of a test to the sums; after failed tests, make's message follows it
count() {
    last=$(grep -v '^make: ' "$1" | tail -n 1 | grep -E '^[0-9]+ passed, [0-9]+ failed$')
    if [ -n "$last" ]; then
        passed=$((passed + ${last%% *}))
        last=${last#*, }
        failed=$((failed + ${last%% *}))
    else
        fault 'the last line of make test is not "N passed, N failed"'
    fi
}

only=$*
why=$(reason)
[ -z "$why" ] || not_bare "$why"

step 'building the root: git, make, gcc'
build_root >"$folder/mmdebstrap.log" 2>&1 </dev/null || {
    tail -n 20 "$folder/mmdebstrap.log"
    not_bare 'mmdebstrap fails'
}
[ "${KEEP:-}" = 1 ] || trap 'rm -rf "$root"' EXIT
trap 'exit 1' HUP INT TERM
git clone -q --no-hardlinks . "$root$clone" || exit 1
[ -z "$(git status --porcelain)" ] || echo 'bare: what is not committed does not come along'
tests="make test ${JOBS:+JOBS=$JOBS}"

step 'make test as an ordinary user, who may not install packages'
if inside nnrt "$tests" >"$folder/refused.log" 2>&1; then
    fault 'make test succeeds without its packages'
elif ! grep 'please run: apt-get install .*clang' "$folder/refused.log"; then
    tail -n 20 "$folder/refused.log"
    fault 'make test does not name the missing packages'
else
    passed=$((passed + 1))
fi

step 'make run as root'
rm -f "$folder/first"
inside root 'make run && times' 2>&1 | {
    began=''
    while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in
        compiling*) began=${began:-$(date +%s)} ;;
        *' %'*) [ -z "$began" ] || [ -f "$folder/first" ] || echo $(($(date +%s) - began)) >"$folder/first" ;;
        esac
    done
} | tee "$folder/run.log"
# the last line of times: user and system time of the shell's commands, as 0m23.450000s
sets=$(nm "$root$clone/build/run/kernels.o" | sed -n 's/.*_\(avx512\|avx2\|neon\|vector\)$/\1/p' | sort -u | wc -l)
took=$(tail -n 1 "$folder/run.log" | sed 's/[ms]/ /g' | awk 'NF == 4 { printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }')
if ! grep -q '^accuracy 100' "$folder/run.log"; then
    fault 'make run does not recognize the digits'
elif [ ! -s "$folder/first" ]; then
    fault 'make run does not announce that it compiles'
elif [ "$sets" -ne 1 ]; then
    fault "make run compiles the kernels of $sets instruction sets, expected that of this machine alone"
else
    passed=$((passed + 1))
    echo "bare: $(cat "$folder/first") s from the beginning of compiling to the first digit, $took s of processor time"
fi

# take_results: copies the results of make test in the root
take_results() {
    cp -R "$root$clone/build/results/." build/results || fault 'there are no results'
}

rm -rf build/results "$folder/root.log" "$folder/user.log" && mkdir -p build/results
user='' rest=''
for name in $AS_USER; do
    [ -n "$only" ] || user="$user $name"
done
for name in $only; do # a family, or one of its suites: cli, cli-run
    case " $AS_USER " in *" $name "* | *" ${name%%-*} "*) user="$user $name" ;; *) rest="$rest $name" ;; esac
done
if [ -z "$only" ] || [ -n "$rest" ]; then
    step 'make test as root'
    inside root "$tests $([ -n "$only" ] && echo "ONLY='${rest# }'" || echo "SKIP='$AS_USER'")" 2>&1 | tee "$folder/root.log"
    count "$folder/root.log"
    take_results
fi
if [ -n "$user" ]; then
    step "make test as an ordinary user:$user"
    needed=$(inside root "make -n test ONLY='${user# }'" 2>/dev/null | sed -n 's/^sh tools\/need.sh //p' | head -n 1)
    inside root "sh tools/need.sh $needed" || fault 'the packages of the tests cannot be installed'
    chroot "$root" chown -R nnrt: "$clone"
    inside nnrt "$tests ONLY='${user# }'" 2>&1 | tee "$folder/user.log"
    count "$folder/user.log"
    take_results
fi

# The clone is unchanged, and only build/ and dist/ are new.
changed=$(inside "$([ -n "$user" ] && echo nnrt || echo root)" 'git status --porcelain' 2>&1)
if [ -z "$changed" ]; then
    passed=$((passed + 1))
else
    echo "$changed"
    fault 'the tests wrote outside of build/'
fi

step 'done'
cat "$folder/root.log" "$folder/user.log" 2>/dev/null | grep -E '^FAIL +[a-z_-]+ +([0-9]+ passed|was not built)'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
