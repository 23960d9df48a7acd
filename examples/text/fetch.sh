#!/bin/sh
# fetch.sh : extracts the novels of Debian's package r-cran-janeaustenr into build/text-data; nothing is installed.
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p build/text-data
echo 'fetching r-cran-janeaustenr with apt-get into build/text-data' >&2
(cd "$folder" && apt-get download -qq r-cran-janeaustenr && dpkg-deb --extract ./*.deb .) || {
    echo 'apt-get download r-cran-janeaustenr failed; missing: build/text-data/Rdata.rdb' >&2
    exit 1
}
cp "$folder/usr/lib/R/site-library/janeaustenr/data/Rdata.rdb" build/text-data/Rdata.rdb
