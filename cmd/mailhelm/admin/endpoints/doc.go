// Package endpoints has the commands of `mailhelm admin` for the webhooks that receive message
// events, and for sending received mail to the webhooks of receiving domains again.
package endpoints
