# Completion of yawara in fish. The program itself says what there is.
function __yawara_options
    set -l words (commandline -opc)
    set -l options (yawara $words[2] --help=options 2>/dev/null)
    for line in $options
        set -l fields (string split \t -- $line)
        if test "$fields[1]" = "$words[-1]" -a -n (string trim -- "$fields[3]")
            string split -n ' ' -- $fields[3]
            return
        end
    end
    for line in $options
        set -l fields (string split \t -- $line)
        printf '%s\t%s\n' $fields[1] $fields[4]
    end
end
complete -c yawara -n 'test (count (commandline -opc)) -eq 1' -f -a '(yawara --help=commands 2>/dev/null)'
complete -c yawara -n 'test (count (commandline -opc)) -gt 1' -a '(__yawara_options)'
