package cli

import "os"

// Colour reports whether the output may have colours: standard output is a terminal, and the
// environment asks for none, with NO_COLOR (no-color.org) or with TERM=dumb.
func (p *Program) Colour() bool {
	file, ok := p.Stdout.(*os.File)
	if !ok || !isTerminal(file) {
		return false
	}
	if none, _ := p.lookup("NO_COLOR"); none != "" {
		return false
	}
	kind, _ := p.lookup("TERM")
	return kind != "dumb"
}

// CanAsk reports whether a person can answer a question: standard input is a terminal.
func (p *Program) CanAsk() bool {
	file, ok := p.Stdin.(*os.File)
	return ok && isTerminal(file)
}

// isTerminal reports whether a file is a character device, such as a terminal. It returns false
// for pipes and regular files, so scripts get no progress lines.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
