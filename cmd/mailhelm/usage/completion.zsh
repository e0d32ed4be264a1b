#compdef mailhelm
# Completion of mailhelm for zsh. Store it as _mailhelm in a folder of $fpath.
_mailhelm() {
	local -a found
	local line
	for line in ${(f)"$(${words[1]} complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
		found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done
	if (( ${#found} )); then
		_describe 'mailhelm' found
	else
		_files
	fi
}
if [[ ${funcstack[1]} == _mailhelm ]]; then
	_mailhelm "$@"
else
	compdef _mailhelm mailhelm
fi
