#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Compiles each of Tandem's controllers into a module for ns-2's TCP-Linux: NAME.so in a folder of your choice.
#   experiments/reference/ns2/module/build.sh NS2_SOURCE OUT
# NS2_SOURCE: the source tree of ns-2.35, for its headers (`apt-get source ns2`, needs a deb-src line); it is not built.
# To run them: Debian's ns (`apt-get install ns2`), whose binary exports what a module needs.
set -euo pipefail

if (($# != 2)); then
	echo "usage: $0 NS2_SOURCE OUT" >&2
	exit 2
fi
headers=$1/tcp/linux
out=$2
if [[ ! -e $headers/ns-linux-c.h ]]; then
	echo "build.sh: there is no tcp/linux/ns-linux-c.h in \`$1\`; give the root of ns-2.35's source (apt-get source ns2)" >&2
	exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
controllers=$here/../../../../controllers
mkdir -p "$out"
for name in $(sed -n 's/^TANDEM_CONTROLLER(\([a-z0-9_]*\),.*/\1/p' "$controllers/include/controllers.def"); do
	"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -shared -DCONTROLLER="$name" ${MIN_CWND:+-DMIN_CWND} \
		-isystem "$headers" -I "$controllers/include" -I "$controllers/src" -o "$out/$name.so" "$here/module.c"
	echo "$out/$name.so"
done
