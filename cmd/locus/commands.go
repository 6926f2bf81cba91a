package main

import "github.com/spf13/cobra"

// groups lists the commands in the order of the help.
var groups = []struct {
	title    string
	commands []func(*invocation) *cobra.Command
}{
	{"Run", []func(*invocation) *cobra.Command{demoCommand, serveCommand}},
	{"State of the cluster", []func(*invocation) *cobra.Command{statusCommand, doctorCommand, findingsCommand, eventsCommand, topCommand, sessionsCommand, hotCommand, verifyCommand, explainCommand}},
	{"Declarations", []func(*invocation) *cobra.Command{adviseCommand, applyCommand, diffCommand, getCommand, shardCommand, tableCommand, userCommand, routesCommand, documentsCommand}},
	{"Jobs", []func(*invocation) *cobra.Command{
		splitCommand, mergeCommand, rebalanceCommand, importCommand, jobsCommand, watchCommand, waitCommand, cutoverCommand, rollbackCommand, pauseCommand, resumeCommand,
		repairCommand, throttleCommand, mirrorCommand, finishCommand, abortCommand,
	}},
	{"Processes", []func(*invocation) *cobra.Command{proxiesCommand, switchoverCommand, rejoinCommand, generatorsCommand, backupCommand, restoreCommand}},
	{"IDs and keys", []func(*invocation) *cobra.Command{idCommand, geneCommand, keysCommand}},
	{"This program", []func(*invocation) *cobra.Command{configCommand, versionCommand}},
}
