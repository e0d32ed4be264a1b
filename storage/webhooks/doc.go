// Package webhooks stores endpoints that receive message events, and the deliveries to them.
package webhooks
