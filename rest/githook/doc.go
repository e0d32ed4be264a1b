// Package githook is the HTTP of webhooks that GitHub sends: POST /github/webhook on the origin of the
// API. Package git/github checks the deliveries and knows what they mean.
package githook
