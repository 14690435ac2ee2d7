#!/bin/sh
# Gets Beam's job server for Spark: fetches the jars of pom.xml through Maven, checks each against jars.sha256,
# and puts them together into one. A second call does nothing.
#
#   deploy/spark/job-server/fetch.sh [FILE.jar]
#
# Without FILE it goes where corpusmill looks by itself. Prints where it is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=2.62.0
target=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/corpusmill/spark-job-server-$version.jar}

# The sum of the finished jar stands beside it.
if [ -e "$target.sha256" ] && (cd "$(dirname "$target")" && sha256sum --check --status "$target.sha256"); then
    echo "$target"
    exit
fi
command -v mvn >/dev/null || { echo "fetch.sh: there is no mvn; Debian has it as maven" >&2; exit 1; }
mkdir -p "$(dirname "$target")"
part=$(mktemp -d "$target.part-XXXXXX")
trap 'rm -rf "$part"' EXIT
maven() { timeout "${FETCH_SECONDS:-900}" mvn -q -B -f "$here/pom.xml" "-Djar.folder=$part" "$@" </dev/null >&2; }

maven org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DincludeScope=runtime "-DoutputDirectory=$part/jars"
if ! (cd "$part/jars" && sha256sum --check --quiet --strict "$here/jars.sha256") >&2 ||
    [ "$(find "$part/jars" -type f | wc -l)" -ne "$(wc -l <"$here/jars.sha256")" ]; then
    echo "fetch.sh: what came is not what jars.sha256 lists" >&2
    exit 1
fi
maven package
sum=$(sha256sum <"$part/spark-job-server-$version.jar")
mv "$part/spark-job-server-$version.jar" "$target"
echo "${sum%% *}  $(basename "$target")" >"$target.sha256"
echo "$target"
