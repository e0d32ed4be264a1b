package objects_test

import (
	"path"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

const org = "0190a4f2-1111-7000-8000-000000000001"

func TestKeys(t *testing.T) {
	t.Parallel()
	id := core.NewID()
	for _, key := range []string{
		objects.RawKey(org, id), objects.TextKey(org, id), objects.HTMLKey(org, id), objects.AttachmentKey(org, id, 0),
		objects.AttachmentKey(org, id, 9999), objects.RawKey(org, "o3vrnil0e2ic28trm7dfhrc2v0clambda4nbp0g1"),
	} {
		if err := objects.CheckKey(key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if objects.OrgOf(key) != org {
			t.Errorf("OrgOf(%s) = %s", key, objects.OrgOf(key))
		}
	}
	for _, key := range []string{
		"", "/", org, org + "/m", org + "//raw.eml", "/" + org + "/m/raw.eml", org + "/m/raw.eml/", org + "/../raw.eml",
		org + "/./raw.eml", org + "/m/..", org + "/m/.hidden", org + "/m/attachments/0/1", org + "/m/Raw.eml", org + "/m/a b",
		org + "/m/a\x00", org + "/m/a\\b", org + "/m/ä", "o/m/raw.eml", strings.ToUpper(org) + "/m/raw.eml",
		org + "/" + strings.Repeat("a", 65) + "/raw.eml", org + "/m/%2e%2e", org + "/m/a:b", "../" + org + "/raw.eml",
	} {
		if objects.CheckKey(key) == nil {
			t.Errorf("the key %q is accepted", key)
		}
	}
}

// FuzzCheckKey checks that a valid key is a path that stays below the folder it is joined to.
func FuzzCheckKey(f *testing.F) {
	for _, seed := range []string{objects.RawKey(org, "m"), org + "/../raw.eml", org + "/m/attachments/0", "//", org + "/m/a\x00b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if objects.CheckKey(key) != nil {
			return
		}
		if joined := path.Join("/root", key); joined != "/root/"+key || len(key) > 300 {
			t.Errorf("the key %q gives the path %q", key, joined)
		}
		if !core.IsID(objects.OrgOf(key)) {
			t.Errorf("the key %q has no organization", key)
		}
	})
}
