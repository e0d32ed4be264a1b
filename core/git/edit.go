package git

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
)

// errNotObject is the error for JSON that is not an object where one is expected.
var errNotObject = errors.New("no JSON object")

// filesOf returns the files of a change with its definitions, by their paths from the root of the
// repository. The change is made after the commit that the connection has synced.
func filesOf(change core.RepositoryChange, c Connection) (map[string][]byte, error) {
	files, text := maps.Clone(change.Files), c.Manifest
	if files == nil {
		files = map[string][]byte{}
	}
	before := text
	if len(text) == 0 {
		text = []byte("{}\n")
	}
	for _, d := range change.Definitions {
		own, next, err := definitionFiles(d, text, c.TestData)
		if err != nil {
			return nil, err
		}
		for name, content := range own {
			files[path.Join(c.PathPrefix, name)] = content
		}
		text = next
	}
	if len(change.Definitions) > 0 && !bytes.Equal(text, before) {
		if len(text) > archive.MaxManifest {
			return nil, &Refusal{fmt.Sprintf("The manifest would be larger than %d bytes.", archive.MaxManifest)}
		}
		files[path.Join(c.PathPrefix, archive.ManifestPath)] = text
	}
	return files, nil
}

// definitionFiles returns the files of a definition by their paths below the prefix, nil for removed ones,
// and the manifest that names them. testData are the files in folders of test data that exist.
func definitionFiles(d core.RepositoryDefinition, text []byte, testData []string) (map[string][]byte, []byte, error) {
	kind := definitions.Kind(d.Kind)
	usual := manifest.Write(setOf(kind, d))
	var wanted map[string]map[string]map[string]json.RawMessage
	if err := json.Unmarshal(usual[archive.ManifestPath], &wanted); err != nil {
		return nil, nil, fmt.Errorf("manifest of one definition: %w", err)
	}
	entry := wanted[string(kind.Section())][d.Key]
	held, err := entryOf(text, string(kind.Section()), d.Key)
	if err != nil {
		return nil, nil, &Refusal{"The manifest of the repository cannot be changed: it is not valid. Correct it first; the last sync says what is wrong."}
	}
	moved := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		value := entry[name]
		if string(value) == `""` {
			continue // not stated, so what the manifest has stays
		}
		var from, to string
		if isPath := slices.Contains([]string{"path", "text", "testdata"}, name); isPath && held[name] != nil {
			if json.Unmarshal(value, &from) == nil && json.Unmarshal(held[name], &to) == nil {
				moved[from] = to
			}
			continue
		}
		if text, err = setMember(text, value, string(kind.Section()), d.Key, name); err != nil {
			return nil, nil, err
		}
	}
	files := map[string][]byte{}
	if d.TestData != nil {
		folder := cmp.Or(pathOf(held["testdata"]), "fixtures/"+d.Key+"/")
		for _, name := range testData {
			if in, _ := path.Split(name); in == folder {
				files[name] = nil // unless a set that stays has this file
			}
		}
	}
	if text, err = withoutMembers(d, text, held, files); err != nil {
		return nil, nil, err
	}
	for name, content := range usual {
		if name != archive.ManifestPath {
			files[movedPath(name, moved)] = content
		}
	}
	if to := moved["fixtures/"+d.Key+"/"]; to != "" && !strings.HasSuffix(to, "/") {
		files[to] = arrayOf(d.TestData)
	}
	return files, text, nil
}

// withoutMembers returns the manifest without the members of parts that a template loses. It adds their
// files, which are removed.
func withoutMembers(d core.RepositoryDefinition, text []byte, held map[string]json.RawMessage, files map[string][]byte) ([]byte, error) {
	lost := map[string]bool{"text": d.NoText, "testdata": d.TestData != nil && len(d.TestData) == 0}
	for _, name := range []string{"text", "testdata"} {
		if !lost[name] || held[name] == nil {
			continue
		}
		if file := pathOf(held[name]); file != "" && !strings.HasSuffix(file, "/") {
			files[file] = nil
		}
		var err error
		if text, err = removeMember(text, string(definitions.Kind(d.Kind).Section()), d.Key, name); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// pathOf returns the path in a member of a manifest, "" for none.
func pathOf(member json.RawMessage) string {
	var name string
	_ = json.Unmarshal(member, &name) // another type is no path
	return name
}

// movedPath returns where the manifest has a file of the standard layout.
func movedPath(name string, moved map[string]string) string {
	if to, ok := moved[name]; ok {
		return to
	}
	folder, file := path.Split(name)
	if to, ok := moved[folder]; ok {
		if !strings.HasSuffix(to, "/") {
			return to // replaced by arrayOf
		}
		return to + file
	}
	return name
}

// arrayOf returns sets of sample values as one file.
func arrayOf(sets map[string]json.RawMessage) []byte {
	items := []map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		item := map[string]json.RawMessage{}
		_ = json.Unmarshal(sets[name], &item) // test data are objects
		item["_name"] = encoded(name)
		items = append(items, item)
	}
	var out bytes.Buffer
	_ = json.Indent(&out, encoded(items), "", "  ") // encoded returns JSON
	out.WriteByte('\n')
	return out.Bytes()
}

// setOf returns a set with one definition.
func setOf(kind definitions.Kind, d core.RepositoryDefinition) *definitions.Set {
	set := &definitions.Set{Declared: map[definitions.Kind]bool{kind: true}}
	switch kind {
	case definitions.KindTemplate:
		set.Templates = []definitions.Template{{Key: d.Key, Subject: d.Subject, HTML: d.Source, Text: d.Text, TestData: d.TestData}}
	case definitions.KindSegment:
		set.Segments = []definitions.Segment{{Key: d.Key, Name: d.Name, Description: d.Description, Predicate: d.Source}}
	default:
		set.Workflows = []definitions.Workflow{{Key: d.Key, Source: d.Source}}
	}
	return set
}

// entryOf returns the members of a definition in a manifest, nil for one that it does not have.
func entryOf(text []byte, section, key string) (map[string]json.RawMessage, error) {
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(text, &sections); err != nil {
		return nil, err
	}
	if sections == nil {
		return nil, errNotObject
	}
	if sections[section] == nil {
		return nil, nil
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(sections[section], &entries); err != nil {
		return nil, err
	}
	if entries[key] == nil {
		return nil, nil
	}
	var members map[string]json.RawMessage
	return members, json.Unmarshal(entries[key], &members)
}

// setMember returns a JSON text in which the value at a path of member names is another one. Objects on
// the path that do not exist are added. Everything else keeps its form.
func setMember(text []byte, value json.RawMessage, names ...string) ([]byte, error) {
	at := bytes.IndexByte(text, '{')
	for depth, name := range names {
		members, end, err := membersAt(text, at)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(members, func(m span) bool { return m.name == name })
		if i < 0 {
			for j := len(names) - 1; j > depth; j-- {
				value = slices.Concat([]byte("{"), encoded(names[j]), []byte(": "), value, []byte("}"))
			}
			return insertMember(text, members, end, depth, slices.Concat(encoded(name), []byte(": "), value)), nil
		}
		if depth == len(names)-1 {
			if bytes.Equal(text[members[i].start:members[i].end], value) {
				return text, nil
			}
			return slices.Concat(text[:members[i].start], value, text[members[i].end:]), nil
		}
		at = members[i].start
	}
	return text, nil
}

// removeMember returns a JSON text without the member at a path of member names, with the comma beside it.
// Everything else keeps its form.
func removeMember(text []byte, names ...string) ([]byte, error) {
	at := bytes.IndexByte(text, '{')
	for depth, name := range names {
		members, _, err := membersAt(text, at)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(members, func(m span) bool { return m.name == name })
		switch {
		case i < 0:
			return text, nil
		case depth < len(names)-1:
			at = members[i].start
		case i+1 < len(members):
			return slices.Concat(text[:members[i].at], text[members[i+1].at:]), nil
		case i > 0:
			return slices.Concat(text[:members[i-1].end], text[members[i].end:]), nil
		default:
			return slices.Concat(text[:members[i].at], text[members[i].end:]), nil
		}
	}
	return text, nil
}

// insertMember adds a member to an object whose closing brace is at end. The object is at a depth below
// the root. Objects of a definition stay on one line.
func insertMember(text []byte, members []span, end, depth int, member []byte) []byte {
	const unit, line = "  ", 2
	gap, last := "\n"+strings.Repeat(unit, depth+1), "\n"+strings.Repeat(unit, depth)
	if depth >= line {
		gap, last = " ", ""
	}
	if len(members) == 0 {
		if depth >= line {
			gap = ""
		}
		open := bytes.LastIndexByte(text[:end], '{') + 1
		return slices.Concat(text[:open], []byte(gap), member, []byte(last), text[end:])
	}
	after := members[len(members)-1].end
	return slices.Concat(text[:after], []byte(","+gap), member, text[after:])
}

// span is a member of an object: its name begins at text[at], and its value is at text[start:end].
type span struct {
	name           string
	at, start, end int
}

// membersAt returns the members of the object that begins at an offset, and the offset of its closing
// brace.
func membersAt(text []byte, at int) ([]span, int, error) {
	if at < 0 || at >= len(text) || text[at] != '{' {
		return nil, 0, errNotObject
	}
	d := json.NewDecoder(bytes.NewReader(text[at:]))
	if _, err := d.Token(); err != nil {
		return nil, 0, err
	}
	var members []span
	for d.More() {
		begin := at + int(d.InputOffset())
		begin += bytes.IndexByte(text[begin:], '"')
		name, err := d.Token()
		if err != nil {
			return nil, 0, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, 0, err
		}
		end := at + int(d.InputOffset())
		members = append(members, span{fmt.Sprint(name), begin, end - len(value), end})
	}
	if _, err := d.Token(); err != nil {
		return nil, 0, err
	}
	return members, at + int(d.InputOffset()) - 1, nil
}

// encoded returns a value as JSON, with <, > and & as they are.
func encoded(value any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // texts, numbers and objects of them can be encoded
	return bytes.TrimSpace(out.Bytes())
}
