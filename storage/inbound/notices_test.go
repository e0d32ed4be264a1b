package inbound_test

import (
	"context"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	inboundstore "github.com/mailhelm/mailhelm/storage/inbound"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestNoticesReachOtherProcesses announces on one connection to the database what another
// follows.
func TestNoticesReachOtherProcesses(t *testing.T) {
	t.Parallel()
	url := enginetest.PostgresURL(t)
	here, there := storagetest.Open(t, storage.Config{URL: url}), storagetest.Open(t, storage.Config{URL: url})
	ctx, stop := context.WithCancel(t.Context())
	woken := make(chan struct{})
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	following.Go(func() {
		inboundstore.NewNotices(here.DB).Follow(ctx, func() {
			select {
			case woken <- struct{}{}:
			case <-ctx.Done():
			}
		})
	})
	<-woken // it is connected
	for range 2 {
		must(t, inboundstore.NewNotices(there.DB).Announce(ctx))
		<-woken
	}
}

// TestNoticesOfSQLite checks that a database with one process has no notices.
func TestNoticesOfSQLite(t *testing.T) {
	t.Parallel()
	n := inboundstore.NewNotices(storagetest.SQLite(t).DB)
	n.Follow(t.Context(), func() { t.Error("woken") })
	must(t, n.Announce(t.Context()))
}
