package serve

import (
	"context"
	"sync"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/standardhooks/post"
	"github.com/mailhelm/mailhelm/core/webhooks"
)

// newWebhooks returns the value that manages webhook endpoints.
func newWebhooks(cfg config.Config, s *stores) webhooks.Webhooks {
	return webhooks.Webhooks{
		Store: s.db.Webhooks(), Transactor: s.db, Audit: s.db.Audit(), Sealer: s.master, Observer: s.hooks, Clock: cfg.Clock,
		Networks: len(cfg.WebhookNetworks) > 0,
	}
}

// sendWebhooks starts to send due webhook deliveries. The returned function stops it and
// waits for the end of attempts in flight, which it interrupts, and closes the connections. cfg
// must have passed [config.Config.Check].
func sendWebhooks(cfg config.Config, s *stores) func() {
	networks, err := cfg.HookNetworks()
	if err != nil { // Check refuses such a configuration
		cfg.Log.Error("private networks of webhook endpoints are not allowed", "error", err)
	}
	sender := post.New(post.Config{Allowed: networks, Roots: cfg.WebhookCAs, Resolver: cfg.WebhookResolver})
	courier := webhooks.NewCourier(webhooks.CourierConfig{
		Queue: s.db.WebhookQueue(), Transactor: s.db, Audit: s.db.Audit(), Sealer: s.master,
		Sender: sender, Clock: cfg.Clock, Log: cfg.Log,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { courier.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
		sender.Close()
	}
}
