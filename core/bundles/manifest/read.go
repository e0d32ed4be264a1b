package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// The codes of diagnostics about the shape of files.
const (
	InvalidJSON   = "invalid_json"
	UnknownMember = "unknown_member"
	WrongType     = "wrong_type"
	MissingMember = "missing_member"
	MissingFile   = "missing_file"
	InvalidPath   = "invalid_path"
	InvalidValue  = "invalid_value"
	UnusedFile    = "unused_file"
	TooLarge      = "too_large"
)

// The limits of what is read. A manifest can name one file many times, and a small archive can have JSON
// with very many values.
const (
	// maxDiagnostics is the number of errors, and of warnings, after which no more are kept.
	maxDiagnostics = 200
	// maxValues is the number of JSON values in all files together.
	maxValues = 500_000
	// maxRead is the number of bytes of all files together, each as often as it is named.
	maxRead = archive.MaxContent
)

// Result is what the files of a bundle say.
type Result struct {
	// Set has the definitions that could be read, sorted.
	Set definitions.Set
	// Paths has the path of the file of each definition: its own, or the one with all
	// definitions of its kind. It has definitions that could not be read too.
	Paths map[definitions.Ref]string
	// Places has where the manifest names definitions of the sections that have them by key.
	Places map[definitions.Ref]Place
	// Texts has the paths of the plain texts of templates, by their keys.
	Texts map[string]string
	// Faults has what is wrong with each definition, and Diagnostics what is wrong with the bundle.
	// Both are in the order of the files.
	Faults      map[definitions.Ref][]definitions.Diagnostic
	Diagnostics []definitions.Diagnostic
	// Unused has the paths of the files that the manifest does not name, sorted.
	Unused []string
}

// Place is a place in the manifest. Line and Column count from 1, Column in characters.
type Place struct{ Line, Column int }

// Without removes definitions as if the files did not name them. Files that only they name stay used.
func (r *Result) Without(refs map[definitions.Ref]bool) {
	r.Set.Remove(refs)
	for ref := range refs {
		delete(r.Paths, ref)
		delete(r.Faults, ref)
	}
}

// HasErrors reports whether something is wrong that is not only a warning.
func (r *Result) HasErrors() bool {
	isError := func(d definitions.Diagnostic) bool { return d.Severity == definitions.Error }
	if slices.ContainsFunc(r.Diagnostics, isError) {
		return true
	}
	for _, faults := range r.Faults {
		if slices.ContainsFunc(faults, isError) {
			return true
		}
	}
	return false
}

// Read reads the definitions of a bundle. What is wrong with its files is in the result.
func Read(tree archive.Tree) *Result {
	r := &reader{tree: tree, used: map[string]bool{archive.ManifestPath: true}, values: maxValues, bytes: maxRead, kept: map[definitions.Severity]int{}, result: &Result{
		Set: definitions.Set{Declared: map[definitions.Kind]bool{}}, Paths: map[definitions.Ref]string{}, Places: map[definitions.Ref]Place{}, Texts: map[string]string{}, Faults: map[definitions.Ref][]definitions.Diagnostic{},
	}}
	r.read()
	r.result.Set.Sort()
	for _, path := range tree.Paths() {
		if !r.used[path] {
			r.result.Unused = append(r.result.Unused, path)
		}
	}
	return r.result
}

// reader reads a bundle.
type reader struct {
	tree   archive.Tree
	result *Result
	used   map[string]bool
	// kept is the number of diagnostics by severity. values and bytes are how many may still be read.
	kept          map[definitions.Severity]int
	values, bytes int
	// path and text are those of the JSON file that is read.
	path string
	text []byte
	// of is the definition that is read; the zero Ref means none.
	of definitions.Ref
}

// read reads the manifest.
func (r *reader) read() {
	root, ok := r.open(archive.ManifestPath)
	if !ok {
		return
	}
	sections := map[string]func(node){
		"attributes": r.attributes, "activity_properties": r.activityProperties, "lists": r.lists, "segments": r.segments,
		"topics": r.topics, "images": r.images, "templates": r.templates, "workflows": r.workflows,
	}
	for _, m := range r.object(root, "the manifest") {
		read, known := sections[m.name]
		if !known {
			if m.name != "$schema" {
				r.errorAt(m.at, UnknownMember, "The manifest has the section "+core.Quote(m.name)+", which does not exist. Sections are "+core.QuotedList(sectionNames())+".")
			}
			continue
		}
		r.inManifest(func() { read(m.node) })
	}
}

// sectionNames returns the names of the sections in the order in which they are applied.
func sectionNames() []string {
	var names []string
	for _, kind := range definitions.Kinds() {
		names = append(names, string(kind.Section()))
	}
	return names
}

// inManifest calls a function that may read other files, and returns to the manifest.
func (r *reader) inManifest(do func()) {
	path, text := r.path, r.text
	do()
	r.path, r.text, r.of = path, text, definitions.Ref{}
}

// open begins to read a JSON file.
func (r *reader) open(path string) (node, bool) {
	content, ok := r.tree[path]
	r.used[path] = true
	r.path, r.text = path, content
	if !ok {
		r.add(definitions.Diagnostic{Severity: definitions.Error, Code: MissingFile, Message: "There is no file " + core.Quote(path) + "."})
		return node{}, false
	}
	if !r.spend(0, path, content) {
		return node{}, false
	}
	root, err := parse(content, &r.values)
	if err != nil {
		r.errorAt(err.at, InvalidJSON, "The file "+core.Quote(path)+" "+err.text+".")
		return node{}, false
	}
	return root, true
}

// add keeps a diagnostic about the definition that is read, or about the bundle.
func (r *reader) add(d definitions.Diagnostic) {
	if r.kept[d.Severity]++; r.kept[d.Severity] > maxDiagnostics {
		return
	}
	if r.of == (definitions.Ref{}) {
		r.result.Diagnostics = append(r.result.Diagnostics, d)
		return
	}
	r.result.Faults[r.of] = append(r.result.Faults[r.of], d)
}

// errorAt keeps an error at an offset of the file that is read.
func (r *reader) errorAt(at int, code, message string) { r.addAt(definitions.Error, at, code, message) }

func (r *reader) addAt(severity definitions.Severity, at int, code, message string) {
	if r.kept[severity] >= maxDiagnostics {
		return // finding its place would read the file once more
	}
	line, column := place(r.text, at)
	r.add(definitions.Diagnostic{Severity: severity, Code: code, Message: message, Path: r.path, Line: line, Column: column})
}

// begin begins to read a definition, whose file has the path.
func (r *reader) begin(kind definitions.Kind, key, path string) {
	r.of = definitions.Ref{Kind: kind, Key: key}
	r.result.Paths[r.of] = path
}

// declare notes that the bundle has a section.
func (r *reader) declare(kind definitions.Kind) { r.result.Set.Declared[kind] = true }

// object returns the members of an object. what names the value in the diagnostic about another one.
func (r *reader) object(n node, what string) []member {
	if n.kind != object {
		r.errorAt(n.at, WrongType, capital(what)+" must be an object.")
	}
	return n.members
}

// fields are the members of an object that are read by name.
type fields struct {
	r    *reader
	at   int
	what string
	by   map[string]member
	// ok is false after a fault.
	ok bool
}

// fields returns the members of an object, which may have those with the names only.
func (r *reader) fields(n node, what string, names ...string) *fields {
	f := r.someFields(n, what, names...)
	for _, m := range n.members {
		if !slices.Contains(names, m.name) {
			r.errorAt(m.at, UnknownMember, capital(what)+" has the member "+core.Quote(m.name)+", which does not exist. Members are "+core.QuotedList(names)+".")
			f.ok = false
		}
	}
	return f
}

// keywords returns the members of a JSON schema with the names. Others are warned of, because they
// have no effect.
func (r *reader) keywords(n node, what string, names ...string) *fields {
	for _, m := range n.members {
		if !slices.Contains(names, m.name) {
			r.addAt(definitions.Warning, m.at, UnknownMember, "The keyword "+core.Quote(m.name)+" of "+what+" has no effect.")
		}
	}
	return r.someFields(n, what, names...)
}

// someFields returns the members of an object with the names.
func (r *reader) someFields(n node, what string, names ...string) *fields {
	f := &fields{r: r, at: n.at, what: what, by: map[string]member{}, ok: n.kind == object}
	for _, m := range r.object(n, what) {
		if slices.Contains(names, m.name) {
			f.by[m.name] = m
		}
	}
	return f
}

// text returns a text, "" if it is absent and not required.
func (f *fields) text(name string, required bool) string {
	m, ok := f.by[name]
	if !ok {
		if required && f.ok {
			f.ok = false
			f.r.errorAt(f.at, MissingMember, capital(f.what)+" has no member "+core.Quote(name)+".")
		}
		return ""
	}
	value, isText := m.node.value.(string)
	if !isText {
		f.ok = false
		f.r.errorAt(m.node.at, WrongType, "The member "+core.Quote(name)+" of "+f.what+" must be a string.")
	}
	return value
}

// texts returns a list of texts, nil if it is absent.
func (f *fields) texts(name string) []string {
	m, ok := f.by[name]
	if !ok {
		return nil
	}
	return f.r.texts(m.node, "the member "+core.Quote(name)+" of "+f.what, &f.ok)
}

// texts returns the items of an array of strings.
func (r *reader) texts(n node, what string, ok *bool) []string {
	if n.kind != array {
		*ok = false
		r.errorAt(n.at, WrongType, capital(what)+" must be an array of strings.")
		return nil
	}
	all := make([]string, 0, len(n.items))
	for _, item := range n.items {
		value, isText := item.value.(string)
		if !isText {
			*ok = false
			r.errorAt(item.at, WrongType, capital(what)+" has an item that is no string.")
			continue
		}
		all = append(all, value)
	}
	return all
}

// file returns the content of the text file whose path is a member. endings are the endings that its
// name may have; none means any.
func (f *fields) file(name string, required bool, endings ...string) (content string) {
	path := f.text(name, required)
	if path == "" && !required || !f.ok {
		return ""
	}
	at := f.by[name].node.at
	bytes, ok := f.r.fileAt(at, path, endings)
	if f.ok = ok && f.r.spend(at, path, bytes); !f.ok {
		return ""
	}
	return string(bytes)
}

// fileAt returns the content of the file with the path that is written at an offset.
func (r *reader) fileAt(at int, path string, endings []string) ([]byte, bool) {
	if reason := archive.CheckPath(path); reason != "" {
		r.errorAt(at, InvalidPath, "The path "+core.Quote(path)+" "+reason+".")
		return nil, false
	}
	if len(endings) > 0 && !slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(path, e) }) {
		r.errorAt(at, InvalidPath, "The path "+core.Quote(path)+" must end with "+orList(endings)+".")
		return nil, false
	}
	content, ok := r.tree[path]
	if !ok {
		r.errorAt(at, MissingFile, "There is no file "+core.Quote(path)+".")
	}
	r.used[path] = true
	return content, ok
}

// spend counts the bytes of a file that is named at an offset. It returns false if the files have too many
// together.
func (r *reader) spend(at int, path string, content []byte) bool {
	if r.bytes -= len(content); r.bytes >= 0 {
		return true
	}
	r.errorAt(at, TooLarge, fmt.Sprintf("The files have more than %d bytes together, each as often as it is named. Name the file %s once.", maxRead, core.Quote(path)))
	return false
}

// orList returns "a, b or c".
func orList(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return fmt.Sprintf("%s or %s", strings.Join(names[:last], ", "), names[last])
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
