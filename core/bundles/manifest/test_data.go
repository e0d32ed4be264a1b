package manifest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
)

// nameMember is the member with the name of a set of sample values that is an item of an array.
const nameMember = "_name"

// testData reads the sample values of a template. A path that ends in "/" is a folder, whose JSON
// files are sets with the names of the files. Another path is a JSON file with one set, which is an
// object, or with several: an array of objects with the member _name.
func (r *reader) testData(n node, from string) (sets map[string]json.RawMessage, ok bool) {
	sets, ok = map[string]json.RawMessage{}, true
	folder, isFolder := strings.CutSuffix(from, "/")
	if !isFolder {
		content, found := r.fileAt(n.at, from, []string{".json"})
		return sets, found && r.addSets(sets, from, content)
	}
	if reason := archive.CheckPath(folder); reason != "" {
		r.errorAt(n.at, InvalidPath, "The path "+core.Quote(from)+" "+reason+".")
		return nil, false
	}
	for _, name := range r.tree.Paths() {
		file, inside := strings.CutPrefix(name, from)
		if inside && !strings.Contains(file, "/") && strings.HasSuffix(file, ".json") {
			r.used[name] = true
			ok = r.addSets(sets, name, r.tree[name]) && ok
		}
	}
	if ok && len(sets) == 0 {
		r.errorAt(n.at, MissingFile, "The folder "+core.Quote(from)+" has no .json file.")
		return nil, false
	}
	return sets, ok
}

// addSets adds the sets of a file.
func (r *reader) addSets(sets map[string]json.RawMessage, file string, content []byte) (ok bool) {
	back, text := r.path, r.text
	defer func() { r.path, r.text = back, text }()
	root, opened := r.open(file)
	if !opened {
		return false
	}
	if root.kind == object {
		return r.addSet(sets, root.at, decodeName(strings.TrimSuffix(path.Base(file), ".json")), content)
	}
	if root.kind != array {
		r.errorAt(root.at, WrongType, "The file "+core.Quote(file)+" must be an object of sample values, or an array of them.")
		return false
	}
	var items []map[string]json.RawMessage
	if json.Unmarshal(content, &items) != nil {
		r.errorAt(root.at, WrongType, "The file "+core.Quote(file)+" has an item that is no object.")
		return false
	}
	ok = true
	for i, item := range items {
		var name string
		if json.Unmarshal(item[nameMember], &name) != nil || name == "" {
			r.errorAt(root.items[i].at, MissingMember, "The item has no name. Add the member "+core.Quote(nameMember)+".")
			return false
		}
		delete(item, nameMember)
		set, err := json.Marshal(item)
		ok = err == nil && r.addSet(sets, root.items[i].at, name, set) && ok
	}
	return ok
}

// addSet adds a set.
func (r *reader) addSet(sets map[string]json.RawMessage, at int, name string, set []byte) bool {
	if _, taken := sets[name]; taken {
		r.errorAt(at, InvalidValue, "There are two sets of sample values with the name "+core.Quote(name)+".")
		return false
	}
	sets[name] = Canonical(set)
	return true
}

// Canonical returns a JSON value with sorted members and without space, so that equal values have
// equal bytes. Numbers keep their form. It returns other texts as they are.
func Canonical(text []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return text
	}
	return encode(value, "")
}

// encode returns a value as JSON, with a line for each member if indent is not "".
func encode(value any, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if e.Encode(value) != nil {
		return nil // values of JSON can be encoded
	}
	if indent == "" {
		return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	}
	return b.Bytes()
}

// fileNames returns a name of a file for each set. Characters that not every file system takes are
// written as "%" and their hexadecimal code, and also letters whose case matters.
func fileNames(sets map[string]json.RawMessage) map[string]string {
	folded := map[string]int{}
	for name := range sets {
		folded[strings.ToLower(name)]++
	}
	names := make(map[string]string, len(sets))
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		names[name] = encodeName(name, folded[strings.ToLower(name)] > 1)
	}
	return names
}

func encodeName(name string, cased bool) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		lower := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' && i > 0
		if lower || c >= 'A' && c <= 'Z' && !cased {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteString(hex.EncodeToString([]byte{c}))
	}
	return b.String()
}

// decodeName returns the name of the set in a file.
func decodeName(file string) string {
	var b strings.Builder
	for i := 0; i < len(file); i++ {
		if file[i] == '%' && i+3 <= len(file) {
			if c, err := hex.DecodeString(file[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(file[i])
	}
	return b.String()
}
