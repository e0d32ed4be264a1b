package settings

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"
)

// environmentPrefix is the start of every variable of this program.
const environmentPrefix = "MAILHELM_"

// standard maps settings to the variables that other programs use for them. They come
// last: a variable or a file for this program is more specific.
var standard = map[string]string{"otlp-endpoint": "OTEL_EXPORTER_OTLP_ENDPOINT"}

// configFlag names the file; it cannot itself be in the file.
const configFlag = "config"

// Sources resolves flags that are not on the command line from the environment and from
// the configuration file, and records where it found each value. It is one resolver for
// both, because kong alone would let a file win over the environment.
type Sources struct {
	// lookup reads a variable, as os.LookupEnv does.
	lookup func(string) (string, bool)
	// path is the configuration file, "" for none. file holds its content by setting.
	// loaded is true once load has been called.
	path   string
	file   map[string]any
	loaded bool
	// found holds, by flag, where the last value came from. Flags on the command line
	// and defaults have no entry.
	found map[string]string
}

// NewSources returns sources that read the environment through lookup, as os.LookupEnv.
func NewSources(lookup func(string) (string, bool)) *Sources {
	return &Sources{lookup: lookup, found: map[string]string{}}
}

// Environment returns the variable of a flag.
func Environment(flag string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Validate does nothing; Resolve reports errors. It is part of kong.Resolver.
func (s *Sources) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag that is not on the command line; nil means the
// default. An empty variable counts as unset, because some container tools cannot omit a
// variable.
func (s *Sources) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !Configurable(flag) {
		return nil, nil
	}
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	name := Environment(flag.Name)
	if v, ok := s.lookup(name); ok && v != "" {
		s.found[flag.Name] = "environment " + name
		return v, nil
	}
	if v, ok := s.file[flag.Name]; ok {
		s.found[flag.Name] = "file " + s.path
		return fmt.Sprint(v), nil
	}
	if name, ok := standard[flag.Name]; ok {
		if v, ok := s.lookup(name); ok && v != "" {
			s.found[flag.Name] = "environment " + name
			return v, nil
		}
	}
	return nil, nil
}

// Configurable reports whether a flag is a setting. Other flags select what one run does
// or prints; they carry the tag once:"" and are read from the command line only.
func Configurable(flag *kong.Flag) bool {
	return flag.Name != "help" && flag.Name != "json" && flag.Name != configFlag && !flag.Tag.Has("once")
}

// load reads the file that --config or MAILHELM_CONFIG names, once. Without a file it
// returns nil. A second call returns nil even after an error, which Resolve has
// returned already.
func (s *Sources) load(ctx *kong.Context) error {
	if s.loaded {
		return nil
	}
	s.loaded = true
	s.path, _ = s.lookup(Environment(configFlag))
	for _, p := range ctx.Path {
		if p.Flag != nil && p.Flag.Name == configFlag {
			s.path, _ = ctx.FlagValue(p.Flag).(string)
		}
	}
	if s.path == "" {
		return nil
	}
	text, err := os.ReadFile(s.path)
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	if err := toml.Unmarshal(text, &s.file); err != nil {
		return fmt.Errorf("configuration file %s: %w", s.path, err)
	}
	return s.checkFile(ctx.Model)
}

// checkFile refuses names that no command has as a setting: ignoring a misspelt setting
// would be worse than failing. It also refuses values that are lists, tables, dates or
// fractions.
func (s *Sources) checkFile(app *kong.Application) error {
	known := knownFlags(app)
	for name, value := range s.file {
		if !slices.Contains(known, name) {
			return fmt.Errorf("configuration file %s: %q is not a setting; 'mailhelm serve --help' lists them", s.path, name)
		}
		switch value.(type) {
		case string, int64, bool:
		default:
			return fmt.Errorf("configuration file %s: %s must be a string, a number or true or false", s.path, name)
		}
	}
	return nil
}

// knownFlags returns the names that a configuration file may contain: the settings of
// all commands. One file can serve several commands, so a setting of another command is
// no mistake.
func knownFlags(app *kong.Application) []string {
	var names []string
	for _, flag := range flagsOf(app.Node) {
		if Configurable(flag) {
			names = append(names, flag.Name)
		}
	}
	return names
}

// flagsOf returns the flags of a node and of all nodes below it. A flag of several
// commands appears several times.
func flagsOf(node *kong.Node) []*kong.Flag {
	flags := slices.Clone(node.Flags)
	for _, child := range node.Children {
		flags = append(flags, flagsOf(child)...)
	}
	return flags
}

// File returns the path of the configuration file in use, "" for none.
func (s *Sources) File() string { return s.path }

// Of returns the source of a flag's value.
func (s *Sources) Of(ctx *kong.Context, flag string) string {
	for _, p := range ctx.Path {
		if p.Flag != nil && p.Flag.Name == flag && !p.Resolved {
			return "flag --" + flag
		}
	}
	if where, ok := s.found[flag]; ok {
		return where
	}
	return "default"
}

// Check refuses the master key on the command line, where every user of the machine can
// read it.
func (s *Sources) Check(ctx *kong.Context) error {
	for _, p := range ctx.Path {
		if p.Flag != nil && !p.Resolved && p.Flag.Name == "master-key" {
			return fmt.Errorf("the master key does not belong on the command line, where other users can read it: set %s, or leave it to the file in the data folder", Environment(p.Flag.Name))
		}
	}
	return nil
}
