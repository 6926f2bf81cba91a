package main

import "github.com/spf13/cobra"

func demoCommand(in *invocation) *cobra.Command { return &cobra.Command{Use: "demo"} }
