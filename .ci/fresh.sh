# Step fresh of .ci/run: the commands of README.md on a machine that has Go, git
# and the programs of every system, and nothing else.
#
# What is run has a clone of HEAD that it cannot write to, caches of its own that
# are empty in the beginning, none of the real parts, and port 8080 in use. Where
# .ci/run is root, it is another user without any rights, and from the moment
# when the modules are downloaded it has no network except the loopback. The
# clock's zone, the locale, the umask and the temporary directory are unusual.
# README.md promises that all of this does not matter.

readonly nobody=65534

# basic lists the programs that are on the PATH besides go and git.
readonly basic=(sh bash env cat cp mv rm mkdir rmdir ln ls chmod touch sleep true false echo printf test head tail
	sort uniq tr cut wc tee dirname basename mktemp date uname id pwd sed grep awk find xargs tar gzip kill timeout)

# readme PREFIX prints the first command in a block of README.md that begins so.
readme() {
	local command
	command=$(awk -v prefix="$1" '/^```/ { inside = !inside; next } inside { sub(/^\$ /, "") }
		inside && index($0, prefix) == 1 { print; exit }' README.md)
	if [[ -z $command ]]; then
		echo "README.md has no command \"$1\"" >&2
		return 1
	fi
	echo "$command"
}

# make_box makes the machine in the directory $box.
make_box() {
	box=$work/box
	chmod 711 "$work" # for the other user to pass
	(
		umask 022
		mkdir -p "$box"/{bin,home,modules,cache} "$box/a temporary folder, 100% long & with #blanks"
		git clone -q --no-hardlinks . "$box/clone"
		chmod -R a-w "$box/clone"
	)
	local name path
	for name in git "${basic[@]}"; do
		path=$(type -P "$name") && ln -s "$path" "$box/bin/$name"
	done
	ln -s "$(go env GOROOT)/bin/go" "$box/bin/go"
	go build -o "$work/taken" .ci/taken.go
	drop=() offline=()
	if ((EUID != 0)); then
		echo "not root: run as $(id -un), with the network"
		return
	fi
	drop=(setpriv --reuid "$nobody" --regid "$nobody" --clear-groups --no-new-privs)
	chown -R "$nobody:$nobody" "$box"/{home,modules,cache} "$box"/a\ *
	if unshare --net ip link set lo up 2>"$work/unshare"; then
		# shellcheck disable=SC2016 # the inner shell expands it
		offline=(unshare --net sh -c 'ip link set lo up && exec "$@"' sh)
	else
		echo "no network namespace ($(tail -n 1 "$work/unshare")): the network stays"
	fi
}

# boxed NETWORK HOME COMMAND... runs a command on that machine, with or without
# ("offline") a network.
boxed() {
	local network=() proxy=() name
	if [[ $1 == offline ]]; then
		network=("${offline[@]}")
		proxy=(GOPROXY=off)
	else
		for name in GOPROXY GONOPROXY GOPRIVATE GOSUMDB GONOSUMDB GOINSECURE GOTOOLCHAIN; do
			proxy+=("$name=$(go env "$name")")
		done
		for name in HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR; do
			[[ -z ${!name:-} ]] || proxy+=("$name=${!name}")
		done
	fi
	local home=$2
	shift 2
	# shellcheck disable=SC2016 # the inner shell expands it
	"${network[@]}" "$work/taken" "${drop[@]}" env -i -C "$box/clone" PATH="$box/bin" HOME="$home" \
		GOMODCACHE="$box/modules" GOCACHE="$box/cache" "${proxy[@]}" TMPDIR="$(echo "$box"/a\ *)" \
		TZ=Pacific/Apia LC_ALL=C CI=true TOOLGYM_PART_PYTHON="$box/none" RAPID_SEED="$RAPID_SEED" \
		bash -c 'umask 077; exec "$@"' bash "$@"
}

# fresh runs the two commands of README.md. With the network, go downloads what
# each needs, as it would for a person; then neither may use it any more. The
# second time, there is no home directory either.
fresh() {
	local demo test status=0
	demo=$(readme 'go run ') test=$(readme 'go test ')
	[[ -z $(git status --porcelain) ]] || echo 'this step tests HEAD, without the changes in the work tree'
	make_box
	echo "$demo"
	# shellcheck disable=SC2086 # words
	boxed online "$box/home" timeout 1800 $demo
	boxed online "$box/home" go list -buildvcs=false -deps -test ./... >/dev/null # downloads the modules of tests
	echo "$demo, without a network"
	# shellcheck disable=SC2086
	boxed offline "$box/nowhere" timeout 300 $demo >/dev/null
	echo "$test, without a network"
	# shellcheck disable=SC2086
	suite "$work/fresh" boxed offline "$box/nowhere" ${test/go test/go test -v} || status=$?
	du -sh "$box/modules" "$box/cache"
	GOMODCACHE=$box/modules go clean -modcache # which is read-only
	rm -rf "$box"
	return "$status"
}
