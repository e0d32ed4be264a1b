# Completion of mailhelm for fish. Store it as ~/.config/fish/completions/mailhelm.fish.
function __mailhelm_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    $words[1] complete -- $words[2..-1] "$current" 2>/dev/null
end
complete -c mailhelm -n 'test (count (__mailhelm_complete)) -gt 0' -f
complete -c mailhelm -a '(__mailhelm_complete)'
