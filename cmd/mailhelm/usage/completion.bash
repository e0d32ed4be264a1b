# Completion of mailhelm for bash. Load it with: source <(mailhelm completion bash)
_mailhelm() {
	local cur words line
	cur=${COMP_WORDS[COMP_CWORD]}
	words=("${COMP_WORDS[@]:1:COMP_CWORD}")
	# bash splits --flag=value into three words.
	if [[ $cur == "=" ]]; then
		cur=
		words=("${COMP_WORDS[@]:1:COMP_CWORD-1}" "")
	elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == "=" ]]; then
		words=("${COMP_WORDS[@]:1:COMP_CWORD-2}" "$cur")
	fi
	COMPREPLY=()
	while IFS= read -r line; do
		COMPREPLY+=("${line%%$'\t'*}")
	done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
	if [[ ${#COMPREPLY[@]} -eq 0 && $cur != -* ]]; then
		compopt -o default 2>/dev/null
	fi
}
complete -F _mailhelm mailhelm
