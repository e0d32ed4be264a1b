package settings

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// configFile is the configuration file in use. values has the values in the file by
// setting, and lines the line number, from 1, of each key.
type configFile struct {
	path   string
	values map[string]any
	lines  map[string]int
}

// place returns the file and the line of a setting, such as "/etc/mailhelm.toml, line 3".
// It returns only the file if the line is unknown.
func (f *configFile) place(setting string) string {
	if line, ok := f.lines[setting]; ok {
		return fmt.Sprintf("%s, line %d", f.path, line)
	}
	return f.path
}

// read reads and parses the file f.path. Errors name the file, and the line if the parser
// reports it.
func (f *configFile) read() error {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	if err := toml.Unmarshal(text, &f.values); err != nil {
		if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := wrong.Position()
			return fmt.Errorf("configuration file %s, line %d, column %d: %w", f.path, line, column, err)
		}
		return fmt.Errorf("configuration file %s: %w", f.path, err)
	}
	f.lines = keyLines(text)
	return nil
}

// keyLines returns the line number, from 1, of each top-level key of a valid TOML text.
// A quoted key is missing if it contains escapes.
func keyLines(text []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		key := e.Key()
		if !key.Next() {
			continue
		}
		node := key.Node()
		if _, known := lines[string(node.Data)]; !known {
			lines[string(node.Data)] = p.Shape(node.Raw).Start.Line
		}
	}
	return lines
}

// check returns an error if the file contains a name that is not a setting of any command,
// such as a misspelt one. It also refuses lists, tables, dates and fractions as values.
func (f *configFile) check(app *kong.Application) error {
	known := knownFlags(app)
	for name, value := range f.values {
		if !slices.Contains(known, name) {
			return fmt.Errorf("configuration file %s: %q is not a setting; 'mailhelm serve --help' lists them", f.place(name), name)
		}
		switch value.(type) {
		case string, int64, bool:
		default:
			return fmt.Errorf("configuration file %s: %s must be a string, a number or true or false", f.place(name), name)
		}
	}
	return nil
}

// knownFlags returns the names of the settings of all commands. A configuration file may
// contain each of them, because one file can serve several commands.
func knownFlags(app *kong.Application) []string {
	var names []string
	for _, flag := range flagsOf(app.Node) {
		if Configurable(flag) {
			names = append(names, flag.Name)
		}
	}
	return names
}

// flagsOf returns the flags of a command and of all its subcommands. A flag that several
// commands have appears several times.
func flagsOf(node *kong.Node) []*kong.Flag {
	flags := slices.Clone(node.Flags)
	for _, child := range node.Children {
		flags = append(flags, flagsOf(child)...)
	}
	return flags
}
