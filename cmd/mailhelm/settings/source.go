package settings

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"
)

// environmentPrefix begins the names of all environment variables of this program.
const environmentPrefix = "MAILHELM_"

// standard maps settings to the environment variables that other programs also use for
// them. These variables have the lowest precedence, because they are not meant for Mailhelm
// alone.
var standard = map[string]string{"otlp-endpoint": "OTEL_EXPORTER_OTLP_ENDPOINT"}

// configFlag is the name of the flag with the path of the configuration file. The file
// itself cannot set this flag.
const configFlag = "config"

// Sources gives kong, the command line parser, the values of flags that are not on the
// command line. It reads the environment and the configuration file and records the source
// of each value. One resolver reads both, because kong would prefer the file to the
// environment if each had its own.
type Sources struct {
	// lookup returns an environment variable and whether it is set, as os.LookupEnv does.
	lookup func(string) (string, bool)
	// path is the path of the configuration file, "" for none. file holds the values in the
	// file by setting. loaded is true after the first call of load.
	path   string
	file   map[string]any
	loaded bool
	// found maps the names of flags to the source of their value: a variable or the file.
	// Flags on the command line and flags with their default have no entry.
	found map[string]string
}

// NewSources returns sources that read the environment through lookup, which must behave
// like os.LookupEnv.
func NewSources(lookup func(string) (string, bool)) *Sources {
	return &Sources{lookup: lookup, found: map[string]string{}}
}

// Environment returns the name of the environment variable that sets a flag. flag has no
// leading dashes.
func Environment(flag string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Validate does nothing; Resolve reports errors. kong.Resolver requires it.
func (s *Sources) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag that is not on the command line, or nil if the
// default applies. An empty variable counts as unset, because some container tools cannot
// leave out a variable.
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

// Configurable reports whether environment and configuration file may set a flag. Flags for
// a single run of a command have the tag once:"" and come only from the command line.
func Configurable(flag *kong.Flag) bool {
	return flag.Name != "help" && flag.Name != "json" && flag.Name != configFlag && !flag.Tag.Has("once")
}

// load reads and checks the configuration file that --config or MAILHELM_CONFIG names. It
// returns nil if none is named. Only the first call reads the file and can return an error.
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

// checkFile returns an error if the configuration file contains a name that is not a
// setting of any command, such as a misspelt one. It also refuses lists, tables, dates and
// fractions as values.
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

// File returns the path of the configuration file in use, "" for none.
func (s *Sources) File() string { return s.path }

// Of returns the source of a flag's value, such as "default" or "environment MAILHELM_X".
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

// Check returns an error if the master key is on the command line, where other users of the
// machine can read it.
func (s *Sources) Check(ctx *kong.Context) error {
	for _, p := range ctx.Path {
		if p.Flag != nil && !p.Resolved && p.Flag.Name == "master-key" {
			return fmt.Errorf("the master key does not belong on the command line, where other users can read it: set %s, or leave it to the file in the data folder", Environment(p.Flag.Name))
		}
	}
	return nil
}
