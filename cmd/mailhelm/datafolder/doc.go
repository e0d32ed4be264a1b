// Package datafolder creates, checks and locks the data folder of a server.
package datafolder
