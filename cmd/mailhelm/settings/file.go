package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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
		if _, repeated := keyLines(text); repeated > 0 { // the error has no position
			return fmt.Errorf("configuration file %s, line %d: %w", f.path, repeated, err)
		}
		return fmt.Errorf("configuration file %s: %w", f.path, err)
	}
	f.lines, _ = keyLines(text)
	return nil
}

// keyLines returns the line number, from 1, of each top-level key of a TOML text without
// syntax errors, and the first line that repeats such a key, 0 for none. A quoted key is
// missing if it contains escapes. Keys inside tables do not count, as no setting is one.
func keyLines(text []byte) (lines map[string]int, repeated int) {
	lines = map[string]int{}
	inTable := false
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		header := e.Kind == unstable.Table || e.Kind == unstable.ArrayTable
		key := e.Key()
		if inTable && !header || !key.Next() {
			continue
		}
		inTable = header
		node := key.Node()
		line := p.Shape(node.Raw).Start.Line
		if _, known := lines[string(node.Data)]; !known {
			lines[string(node.Data)] = line
		} else if repeated == 0 {
			repeated = line
		}
	}
	return lines, repeated
}

// check returns an error if the file contains a name that is not a setting of any command,
// such as a misspelt one. It also refuses lists, tables, dates and fractions as values. It
// returns the first fault of the file.
func (f *configFile) check(app *kong.Application) error {
	known := knownFlags(app)
	inOrder := slices.SortedFunc(maps.Keys(f.values), func(a, b string) int { return cmp.Compare(f.lines[a], f.lines[b]) })
	for _, name := range inOrder {
		if !slices.Contains(known, name) {
			return fmt.Errorf("configuration file %s: %q is not a setting; 'mailhelm serve --help' lists them", f.place(name), name)
		}
		switch f.values[name].(type) {
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
