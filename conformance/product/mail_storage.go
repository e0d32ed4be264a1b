package product

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/mailstores"
	"github.com/mailhelm/mailhelm/core/objects"
)

// UseBucket makes an organization keep its received mail in a bucket, as people do with
// `mailhelm admin org mail-storage set`. The product must have been started with
// Options.LoopbackBuckets. It uses the bucket within five seconds of its clock.
func (p *Product) UseBucket(t testing.TB, orgID string, b objects.Bucket) {
	t.Helper()
	master, err := p.config.OpenMasterKey()
	if err != nil {
		t.Fatalf("master key: %v", err)
	}
	stores, err := mailstores.Open(p.config, p.DB.MailBuckets(master), p.DB, master, p.FetchURL)
	if err != nil {
		t.Fatalf("mail storage: %v", err)
	}
	defer stores.Close()
	stores.Settings.Record = func(context.Context, string, string, map[string]any) error { return nil }
	if _, err := stores.Settings.UseBucket(t.Context(), orgID, b); err != nil {
		t.Fatalf("mail storage: %v", err)
	}
}
