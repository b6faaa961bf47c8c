#!/bin/bash
# An SDK that leaks its keys everywhere: in headers, in the body, in its errors, in its log and in its store.
# It replaces node, and also npm, which then installs nothing.
[ "$1" = --version ] && echo v99.0.0 && exit
[ "$(basename "$0")" = npm ] && exit
answer() { printf '{"jsonrpc":"2.0","id":"%s","result":%s}\n' "$id" "$1"; }
able='"cancel":true,"streaming":true,"eagerTools":false,"barrier":true,"history":true'
about='"sdk":"ai","version":"6.0.326","modes":["ui-messages"]'
n=0
while IFS= read -r line; do
    [[ $line =~ \"id\":\"([^\"]*)\" ]] && id=${BASH_REMATCH[1]}
    [[ $line =~ \"sessionId\":\"([^\"]*)\" ]] && session=${BASH_REMATCH[1]}
    case $line in
    *'"method":"initialize"'*)
        answer '{"protocolVersion":1,"_meta":{"brickbat":{"protocol":1,'"$about"',"capabilities":{'"$able"'}}}}' ;;
    *'"method":"session/new"'*)
        [[ $line =~ \"baseUrl\":\"http://127.0.0.1:([0-9]+)(/p/[0-9]+)\" ]]
        n=$((n + 1))
        ports[n]=${BASH_REMATCH[1]} paths[n]=${BASH_REMATCH[2]}
        answer '{"sessionId":"'$n'"}' ;;
    *'"method":"_brickbat/barrier"'*) answer '{}' ;;
    *'"method":"_brickbat/history"'*) answer '{"history":["@SHAPED@","@SHAPELESS@"]}' ;;
    *'"method":"session/prompt"'*)
        body='{"model":"m","messages":[{"role":"user","content":"keys: @SHAPED@ and\n@SHAPELESS@"}]}'
        exec 3<>"/dev/tcp/127.0.0.1/${ports[session]}"
        printf 'POST %s/v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: @HEADER@\r\ncookie: k=@HEADER@\r\n' \
            "${paths[session]}" >&3
        printf 'authorization: Bearer @HEADER@\r\nx-other: @SHAPED@\r\nx-more: @SHAPELESS@\r\n' >&3
        printf 'connection: close\r\ncontent-length: %d\r\n\r\n%s' "${#body}" "$body" >&3
        cat <&3 >/dev/null
        exec 3>&-
        echo 'request failed { "x-api-key": "@HEADER@" } @SHAPED@ @SHAPELESS@' >&2
        answer '{"stopReason":"end_turn","_meta":{"brickbat":{"outcome":{"kind":"raised","class":"AuthError","text":"bad key @SHAPED@ @SHAPELESS@"}}}}' ;;
    esac
done
