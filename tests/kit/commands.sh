# commands.sh - many commands of the command line in one process (commands.c), read with `.` after verdict.sh. For suites that run hundreds
# of them: a program with sanitizers takes ten times as long to start and to end as most commands take.
# shellcheck shell=sh
asked=' ' # " PROGRAM=DESCRIPTOR:PROCESS " of each that runs; words go to DESCRIPTOR, answers come from the next one

# commands_of NNRT: the program that runs many commands, if there is one beside NNRT; else NNRT
commands_of() {
    if [ "${1##*/}" = nnrt ] && [ -x "${1%nnrt}commands" ]; then echo "${1%nnrt}commands"; else echo "$1"; fi
}

# ask PROGRAM ARGUMENT...: runs a command; its status is $got, its output in $folder/out and $folder/err. A PROGRAM named `commands`
# has one process for all commands, which have no standard input; any other is started. Two of that name at a time.
ask() {
    case $1 in
    */commands) ;;
    *)
        "$@" >"$folder/out" 2>"$folder/err"
        got=$?
        return
        ;;
    esac
    case $asked in
    *" $1="*) ;;
    *)
        mkfifo "$folder/asked_words" "$folder/asked_status"
        "$1" "$folder/out" "$folder/err" <"$folder/asked_words" >"$folder/asked_status" &
        case $asked in
        *=4:*) asked="$asked$1=6:$! " && exec 6>"$folder/asked_words" 7<"$folder/asked_status" ;;
        *) asked="$asked$1=4:$! " && exec 4>"$folder/asked_words" 5<"$folder/asked_status" ;;
        esac
        rm "$folder/asked_words" "$folder/asked_status"
        ;;
    esac
    asked_to=${asked#*" $1="}
    asked_to=${asked_to%%:*}
    asked_program=$1
    shift
    { echo $(($# + 1)) && printf '%s\0' "${asked_program%commands}nnrt" "$@"; } >&"$asked_to"
    if ! read -r got <&"$((asked_to + 1))"; then
        got='none: it ended the process'
        asked="${asked%%" $asked_program="*} ${asked#*" $asked_program="* }" # the next command starts another
    fi
}

# asks PROGRAM ARGUMENT...: the same as a command, for `holds`: ends with the status, and prints the messages of a failed command
asks() {
    ask "$@"
    [ "$got" = 0 ] || cat "$folder/err"
    [ "$got" = 0 ]
}

# end_commands: ends the processes of ask, which report leaks then
end_commands() {
    for asked_one in $asked; do
        asked_to=${asked_one##*=}
        echo 0 >&"${asked_to%%:*}"
        wait "${asked_one##*:}"
        verdict "no command of ${asked_one%%=*} leaks" $? "$folder/err"
    done
    asked=' '
}
