package archive_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
)

// entry is a file of an archive that a test packs.
type entry struct {
	name, content string
	change        func(*zip.FileHeader)
}

// pack packs files in their order, also what no bundle may have.
func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.change != nil {
			e.change(h)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mode sets the kind of a file, as Unix programs store it.
func mode(m fs.FileMode) func(*zip.FileHeader) {
	return func(h *zip.FileHeader) { h.SetMode(m) }
}

// TestReadZipRefuses checks that what could harm is refused with the name of the file and the reason.
func TestReadZipRefuses(t *testing.T) {
	t.Parallel()
	many := make([]entry, archive.MaxFiles+1)
	for i := range many {
		many[i].name = strings.Repeat("a", i%150+1) + "/" + strings.Repeat("b", i/150+1)
	}
	for name, test := range map[string]struct {
		entries []entry
		want    []string
	}{
		"traversal":        {[]entry{{name: "templates/../../x.hbs"}}, []string{"templates/../../x.hbs", `".."`}},
		"absolute":         {[]entry{{name: "/etc/passwd"}}, []string{"/etc/passwd", "not relative"}},
		"drive":            {[]entry{{name: "C:/x"}}, []string{"C:/x", "not relative"}},
		"backslash":        {[]entry{{name: `..\x`}}, []string{"x", "backslash"}},
		"empty part":       {[]entry{{name: "a//b"}}, []string{"a//b", "empty part"}},
		"control":          {[]entry{{name: "a\x07b"}}, []string{"cannot be printed"}},
		"right to left":    {[]entry{{name: "a\u202eb"}}, []string{"cannot be printed"}},
		"twice":            {[]entry{{name: "a"}, {name: "a"}}, []string{`"a"`, "twice"}},
		"case":             {[]entry{{name: "A/x"}, {name: "a/y"}}, []string{`"a/y"`, "upper and lower case"}},
		"file in file":     {[]entry{{name: "a"}, {name: "a/b"}}, []string{`"a/b"`, "the name of the file"}},
		"folder as file":   {[]entry{{name: "a/b"}, {name: "a"}}, []string{`"a"`, "folder"}},
		"symbolic link":    {[]entry{{"a", "/etc/passwd", mode(fs.ModeSymlink | 0o777)}}, []string{`"a"`, "symbolic link"}},
		"device":           {[]entry{{"a", "", mode(fs.ModeDevice | 0o600)}}, []string{`"a"`, "regular file"}},
		"folder link":      {[]entry{{"a/", "", mode(fs.ModeSymlink | 0o777)}}, []string{`"a/"`, "empty part"}},
		"encrypted":        {[]entry{{"a", "x", func(h *zip.FileHeader) { h.Flags |= 1 }}}, []string{`"a"`, "encrypted"}},
		"large":            {[]entry{{name: "a", content: strings.Repeat("x", archive.MaxFile+1)}}, []string{`"a"`, "larger than"}},
		"large manifest":   {[]entry{{name: archive.ManifestPath, content: strings.Repeat(" ", archive.MaxManifest+1)}}, []string{archive.ManifestPath, "larger than"}},
		"too many":         {many, []string{"more than 2000"}},
		"large in all":     {large(), []string{"without compression"}},
		"folder traversal": {[]entry{{name: "../"}}, []string{"../", `".."`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := archive.ReadZip(pack(t, test.entries...))
			if err == nil {
				t.Fatal("read")
			}
			for _, part := range test.want {
				if !strings.Contains(errorText(err), part) {
					t.Errorf("%q has no %q", errorText(err), part)
				}
			}
		})
	}
}

// large returns files that are allowed each, and too large together.
func large() []entry {
	var all []entry
	for i := range archive.MaxContent/archive.MaxFile + 1 {
		all = append(all, entry{name: strings.Repeat("a", i+1), content: strings.Repeat("x", archive.MaxFile)})
	}
	return all
}

// TestReadZipChecksSizes changes the sizes and the sum that an archive states about a file.
func TestReadZipChecksSizes(t *testing.T) {
	t.Parallel()
	packed := pack(t, entry{name: "a", content: strings.Repeat("x", 100_000)})
	at := bytes.LastIndex(packed, []byte("PK\x01\x02")) // the entry in the directory: sizes at 20 and 24, sum at 16
	for name, offset := range map[string]int{"sum": 16, "smaller": 25, "larger": 26} {
		changed := bytes.Clone(packed)
		changed[at+offset]++
		if name == "smaller" {
			changed[at+offset] -= 2
		}
		if _, err := archive.ReadZip(changed); err == nil || !strings.Contains(errorText(err), `"a"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range 20 {
		if _, err := archive.ReadZip(packed[:len(packed)*n/20]); err == nil {
			t.Errorf("read %d of 20 parts", n)
		}
	}
}

// TestZipRoundTrip checks that what is written is read, and that equal trees give equal bytes.
func TestZipRoundTrip(t *testing.T) {
	t.Parallel()
	tree := archive.Tree{archive.ManifestPath: []byte("{}"), "a/b": []byte("text"), "static/ü.png": {0, 255, 1}, "empty": {}}
	var first, second bytes.Buffer
	if err := archive.WriteZip(&first, tree); err != nil {
		t.Fatal(err)
	}
	_ = archive.WriteZip(&second, tree)
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two writes differ")
	}
	got, err := archive.ReadZip(first.Bytes())
	if diff := cmp.Diff(tree, got); diff != "" || err != nil {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
	withFolders := pack(t, entry{name: "a/"}, entry{name: "a/b", content: "x"})
	if got, err := archive.ReadZip(withFolders); err != nil || len(got) != 1 {
		t.Errorf("with folders: %v, %v", got, err)
	}
}

// FuzzReadZip checks that any archive is read within the limits, or refused.
func FuzzReadZip(f *testing.F) {
	f.Add(pack(f, entry{name: archive.ManifestPath, content: "{}"}, entry{name: "a/b", content: "text"}))
	f.Add(pack(f, entry{name: "../a", content: "x"}, entry{name: "A"}, entry{name: "a"}))
	f.Fuzz(func(t *testing.T, packed []byte) {
		tree, err := archive.ReadZip(packed)
		if err != nil {
			return
		}
		folded := map[string]bool{}
		for path, content := range tree {
			if archive.CheckPath(path) != "" || len(content) > archive.MaxFile || folded[strings.ToLower(path)] {
				t.Errorf("%q with %d bytes was read", path, len(content))
			}
			folded[strings.ToLower(path)] = true
		}
	})
}
