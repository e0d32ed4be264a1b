// Package inbound stores the messages that were accepted and are not processed yet.
package inbound
