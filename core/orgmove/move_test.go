package orgmove_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/orgmove"
)

const orgID = "01a229a4-4a11-72a7-9e84-90207fe2787f"

// memory is a Source, a Target and the objects of one organization.
type memory struct {
	header  orgmove.Header
	rows    map[string][]string
	objects map[string]string
	// state is that of the organization: begun, visible or gone.
	state string
	// fails is the error of the next Load.
	fails error
}

func newMemory() *memory {
	return &memory{rows: map[string][]string{}, objects: map[string]string{}}
}

// filled returns an organization with many rows in one table, one in another and objects.
func filled() *memory {
	m := newMemory()
	m.header = orgmove.Header{
		Schema: 7, Org: orgmove.Org{ID: orgID, Slug: "acme", Name: "Acme", Tier: "free", RetentionDays: 30}, Tables: m.Tables(),
		People: []orgmove.Person{{ID: core.NewID(), Email: "ada@example.com", Name: "Ada", Role: "owner", Permissions: "[]"}},
	}
	for n := range 20_000 {
		m.rows["contacts"] = append(m.rows["contacts"], fmt.Sprintf(`["%06d",%q]`, n, strings.Repeat("x", 100)))
	}
	m.rows["lists"] = []string{`["a","b"]`}
	for n := range 3 {
		m.objects[fmt.Sprintf("%s/m%d/raw.eml", orgID, n)] = strings.Repeat("y", n*70_000)
	}
	return m
}

func (m *memory) InSnapshot(ctx context.Context, do func(ctx context.Context) error) error {
	return do(ctx)
}

func (m *memory) Header(context.Context, string) (orgmove.Header, error) { return m.header, nil }

func (m *memory) Count(context.Context, string) (int64, error) { return 20_001, nil }

func (m *memory) Rows(_ context.Context, _, table string, line func([]byte) error) error {
	for _, row := range m.rows[table] {
		if err := line([]byte(row)); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Each(_ context.Context, _ string, do func(string, func() (io.ReadCloser, error)) error) error {
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
		if err := do(key, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(m.objects[key])), nil }); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Schema(context.Context) (int64, error) { return 7, nil }

func (*memory) Tables() []orgmove.Table {
	return []orgmove.Table{{Name: "contacts", Columns: []string{"id", "email"}}, {Name: "empty", Columns: []string{"id"}}, {Name: "lists", Columns: []string{"id", "key"}}}
}

func (m *memory) Begin(_ context.Context, a orgmove.Arrival) error {
	m.header, m.state = a.Header, "begun"
	return nil
}

func (m *memory) Load(_ context.Context, table string, lines []byte) (int64, error) {
	if err := m.fails; err != nil {
		m.fails = nil
		return 0, err
	}
	all := strings.Split(strings.TrimSuffix(string(lines), "\n"), "\n")
	m.rows[table] = append(m.rows[table], all...)
	return int64(len(all)), nil
}

func (m *memory) Finish(context.Context) ([]orgmove.Joined, error) {
	m.state = "visible"
	return nil, nil
}

func (m *memory) Abandon(context.Context) error {
	m.state, m.rows = "gone", map[string][]string{}
	return nil
}

func (m *memory) Put(_ context.Context, _, key string, body io.Reader, size int64) error {
	content, err := io.ReadAll(body)
	if err == nil && int64(len(content)) != size {
		err = io.ErrUnexpectedEOF
	}
	m.objects[key] = string(content)
	return err
}

func (m *memory) Clear(context.Context, string) error {
	clear(m.objects)
	return nil
}

// identity is the key of the tests.
var identity = func() *age.X25519Identity {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		panic(err)
	}
	return key
}()

func (m *memory) export(t *testing.T) []byte {
	t.Helper()
	var archive bytes.Buffer
	_, err := orgmove.Export{
		Source: m, Objects: m, Clock: func() time.Time { return time.Unix(0, 0) }, Program: "1.2.3", Progress: func(int64, int64, string) {},
	}.Write(t.Context(), &archive, []age.Recipient{identity.Recipient()}, orgID, true)
	if err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func (m *memory) read(ctx context.Context, archive io.Reader) (orgmove.Imported, error) {
	return orgmove.Import{Target: m, Objects: m, Progress: func(int64, string) {}, Rollback: time.Minute}.Read(ctx, archive, []age.Identity{identity}, orgmove.Options{})
}

// TestArchiveHasEverything checks that an import stores the same rows and objects.
func TestArchiveHasEverything(t *testing.T) {
	t.Parallel()
	from, to := filled(), newMemory()
	done, err := to.read(t.Context(), bytes.NewReader(from.export(t)))
	if err != nil {
		t.Fatal(err)
	}
	if to.state != "visible" || done.Slug != "acme" || done.Manifest.Rows() != 20_001 || !slices.Equal(to.rows["contacts"], from.rows["contacts"]) || !slices.Equal(to.rows["lists"], from.rows["lists"]) {
		t.Errorf("%s, %+v", to.state, done.Manifest)
	}
	if !maps.Equal(to.objects, from.objects) || done.Manifest.Objects.Bytes != 210_000 {
		t.Errorf("objects %+v", done.Manifest.Objects)
	}
}

// TestCutArchiveLeavesNothing cuts an archive at many places, and changes bytes of it.
func TestCutArchiveLeavesNothing(t *testing.T) {
	t.Parallel()
	archive := filled().export(t)
	for n := range 40 {
		at := len(archive) * n / 40
		refuses(t, fmt.Sprintf("cut at %d", at), archive[:at])
		changed := bytes.Clone(archive)
		changed[at] ^= 1
		refuses(t, fmt.Sprintf("changed at %d", at), changed)
	}
	refuses(t, "without its last byte", archive[:len(archive)-1])
	refuses(t, "with something after its end", append(bytes.Clone(archive), 0))
}

// refuses checks that an archive is refused with advice, and that nothing of it is visible.
func refuses(t *testing.T, what string, archive []byte) {
	t.Helper()
	to := newMemory()
	_, err := to.read(t.Context(), bytes.NewReader(archive))
	refusal, ok := errors.AsType[*core.Error](err)
	if !ok || refusal.Code != core.CodeValidationFailed || refusal.Next == "" {
		t.Errorf("%s: %v", what, err)
	}
	if to.state == "visible" || to.state == "begun" || len(to.rows)+len(to.objects) > 0 {
		t.Errorf("%s: %s with %d tables and %d objects", what, to.state, len(to.rows), len(to.objects))
	}
}

// entry is a file of an archive.
type entry struct {
	name, content string
	kind          byte
}

// entries returns the files of an archive.
func entries(t *testing.T, archive []byte) []entry {
	t.Helper()
	plain, err := age.Decrypt(bytes.NewReader(archive), identity)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := gzip.NewReader(plain)
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	for files := tar.NewReader(packed); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		content, readErr := io.ReadAll(files)
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		all = append(all, entry{h.Name, string(content), h.Typeflag})
	}
}

// packed returns an archive with files, as a person with the key can make it.
func packed(t *testing.T, all []entry) []byte {
	t.Helper()
	var archive bytes.Buffer
	sealed, err := age.Encrypt(&archive, identity.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(sealed)
	files := tar.NewWriter(zipped)
	for _, e := range all {
		size := int64(len(e.content))
		if e.kind != tar.TypeReg {
			size = 0
		}
		err = errors.Join(err, files.WriteHeader(&tar.Header{Name: e.name, Size: size, Typeflag: e.kind, Mode: 0o600, Linkname: "/etc/passwd"}))
		if size > 0 {
			_, writeErr := io.WriteString(files, e.content)
			err = errors.Join(err, writeErr)
		}
	}
	if err := errors.Join(err, files.Close(), zipped.Close(), sealed.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// TestForgedArchivesAreRefused changes the files of an archive, as a person with its key can.
func TestForgedArchivesAreRefused(t *testing.T) {
	t.Parallel()
	whole := entries(t, filled().export(t))
	at := func(prefix string) int {
		return slices.IndexFunc(whole, func(e entry) bool { return strings.HasPrefix(e.name, prefix) })
	}
	header, first, second, list, object, manifest := at("organization"), at("rows/contacts/1"), at("rows/contacts/2"), at("rows/lists/1"), at("objects/"), at("manifest")
	swap := func(i, j int) func([]entry) []entry {
		return func(all []entry) []entry { all[i], all[j] = all[j], all[i]; return all }
	}
	replace := func(i int, old, with string) func([]entry) []entry {
		return func(all []entry) []entry {
			if !strings.Contains(all[i].content, old) {
				t.Errorf("%s has no %q", all[i].name, old)
			}
			all[i].content = strings.Replace(all[i].content, old, with, 1)
			return all
		}
	}
	rename := func(i int, name string) func([]entry) []entry {
		return func(all []entry) []entry { all[i].name = name; return all }
	}
	forged := map[string]func([]entry) []entry{
		"a row less":            replace(first, whole[first].content[:strings.IndexByte(whole[first].content, '\n')+1], ""),
		"a changed row":         replace(list, `"a"`, `"c"`),
		"two parts swapped":     swap(first, second),
		"tables swapped":        swap(second, list),
		"a part missing":        func(all []entry) []entry { return slices.Delete(all, first, first+1) },
		"a table missing":       func(all []entry) []entry { return slices.Delete(all, list, list+1) },
		"a part twice":          func(all []entry) []entry { return slices.Insert(all, first, all[first]) },
		"an object missing":     func(all []entry) []entry { return slices.Delete(all, object, object+1) },
		"objects swapped":       swap(object, object+1),
		"rows after objects":    swap(list, object),
		"a changed object":      replace(object+1, "y", "z"),
		"no manifest":           func(all []entry) []entry { return slices.Delete(all, manifest, manifest+1) },
		"a file after it":       func(all []entry) []entry { return append(all, entry{"more", "", tar.TypeReg}) },
		"a manifest of nothing": replace(manifest, `"tables": [`, `"tables": null, "x": [`),
		"no header":             func(all []entry) []entry { return slices.Delete(all, header, header+1) },
		"another table":         rename(list, "rows/users/1.jsonl"),
		"a path":                rename(object, "../../etc/passwd"),
		"a path in rows":        rename(list, "rows/../1.jsonl"),
		"another organization":  rename(object, "objects/"+core.NewID()+"/m0/raw.eml"),
		"a link":                func(all []entry) []entry { all[object].kind = tar.TypeSymlink; return all },
		"a wrong id":            replace(header, orgID, "acme"),
		"a wrong slug":          replace(header, `"slug": "acme"`, `"slug": "../acme"`),
		"a slug like an id":     replace(header, `"slug": "acme"`, `"slug": "`+orgID+`"`),
		"a wrong plan":          replace(header, `"tier": "free"`, `"tier": "gold"`),
		"a wrong role":          replace(header, `"role": "owner"`, `"role": "operator"`),
		"a wrong address":       replace(header, "ada@example.com", "Ada <ada@example.com>"),
		"more tables":           replace(header, `"name": "empty"`, `"name": "users"`),
		"other columns":         replace(header, `"email"`, `"org_id"`),
	}
	for what, forge := range forged {
		refuses(t, what, packed(t, forge(slices.Clone(whole))))
	}
	for old, next := range map[string]string{`"format": 1,|"format": 2,`: "Update this installation", `"schema": 7|"schema": 8`: "Update this installation", `"schema": 7,|"schema": 6,`: "Update the other installation"} {
		before, after, _ := strings.Cut(old, "|")
		_, err := newMemory().read(t.Context(), bytes.NewReader(packed(t, replace(header, before, after)(slices.Clone(whole)))))
		if refusal, ok := errors.AsType[*core.Error](err); !ok || !strings.Contains(refusal.Next, next) {
			t.Errorf("%s: %v", after, err)
		}
	}
	if _, err := newMemory().read(t.Context(), bytes.NewReader(packed(t, whole))); err != nil {
		t.Errorf("the whole archive: %v", err)
	}
}

// TestFailedImportIsUndone checks that what a failed import stored is removed, also after the end of
// its context.
func TestFailedImportIsUndone(t *testing.T) {
	t.Parallel()
	archive := filled().export(t)
	ctx, cancel := context.WithCancel(t.Context())
	to := newMemory()
	to.fails = errors.New("the disk is full")
	cancel()
	if _, err := to.read(ctx, bytes.NewReader(archive)); err == nil || !strings.Contains(err.Error(), "disk is full") || to.state != "gone" {
		t.Errorf("%v, %s", err, to.state)
	}
	if _, err := to.read(t.Context(), bytes.NewReader(archive)); err != nil || to.state != "visible" {
		t.Errorf("again: %v, %s", err, to.state)
	}
}

// TestArchiveNeedsItsKey checks that another key and a file of another kind get different refusals.
func TestArchiveNeedsItsKey(t *testing.T) {
	t.Parallel()
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]struct {
		file []byte
		text string
	}{
		"another key":  {filled().export(t), "does not open"},
		"another file": {[]byte("PK\x03\x04"), "is not an archive"},
	} {
		_, err := orgmove.Import{Target: newMemory(), Objects: newMemory(), Progress: func(int64, string) {}}.Read(t.Context(), bytes.NewReader(want.file), []age.Identity{other}, orgmove.Options{})
		if err == nil || !strings.Contains(core.AsError(err).Message, want.text) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// FuzzImport checks that no content of an archive makes the import fail in another way than by a
// refusal. The fuzzed text is in place of a part of the header.
func FuzzImport(f *testing.F) {
	f.Add(`{"format":1,"schema":7}`, `["a"]`)
	f.Add(`[]`, "\n")
	f.Fuzz(func(t *testing.T, header, rows string) {
		archive := packed(t, []entry{{"organization.json", header, tar.TypeReg}, {"rows/contacts/1.jsonl", rows, tar.TypeReg}, {"manifest.json", rows, tar.TypeReg}})
		var known orgmove.Header
		if json.Unmarshal([]byte(header), &known) == nil && known.Org.ID == orgID {
			return
		}
		refuses(t, header, archive)
	})
}
