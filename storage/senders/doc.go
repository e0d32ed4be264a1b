// Package senders stores claims of verified senders.
package senders
