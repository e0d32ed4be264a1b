// Package webhooks has the dashboard pages about webhook endpoints: the list, the form for a
// new and a changed endpoint, its secret, and the log of deliveries.
package webhooks
