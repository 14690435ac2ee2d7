#!/bin/sh
# Makes Beam's job server for Spark: downloads the jars of pom.xml with Maven, checks each against jars.sha256,
# and merges them into one jar. A second call does nothing.
#
#   deploy/spark/job-server/fetch.sh [FILE.jar]
#
# Without FILE, the jar is written to the default place where corpusmill looks for it. Prints its path.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=2.62.0
target=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/corpusmill/spark-job-server-$version.jar}

# The checksum of the finished jar is in a file next to it.
if [ -e "$target.sha256" ] && (cd "$(dirname "$target")" && sha256sum --check --status "$target.sha256"); then
    echo "$target"
    exit
fi
command -v mvn >/dev/null || { echo "fetch.sh: mvn is not installed; on Debian: apt install maven" >&2; exit 1; }
mkdir -p "$(dirname "$target")"
part=$(mktemp -d "$target.part-XXXXXX")
trap 'rm -rf "$part"' EXIT
maven() { timeout --foreground "${FETCH_SECONDS:-900}" mvn -q -B -f "$here/pom.xml" "-Djar.folder=$part" "$@" </dev/null >&2; }

maven org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DincludeScope=runtime "-DoutputDirectory=$part/jars"
if ! (cd "$part/jars" && sha256sum --check --quiet --strict "$here/jars.sha256") >&2 ||
    [ "$(find "$part/jars" -type f | wc -l)" -ne "$(wc -l <"$here/jars.sha256")" ]; then
    echo "fetch.sh: the downloaded jars differ from jars.sha256" >&2
    exit 1
fi
maven package
sum=$(sha256sum <"$part/spark-job-server-$version.jar")
mv "$part/spark-job-server-$version.jar" "$target"
echo "${sum%% *}  $(basename "$target")" >"$target.sha256"
echo "$target"
