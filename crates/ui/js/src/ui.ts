// The script of the pages: live updates and keys. Every page works without it.
import { addKeys } from "./keys";
import { start } from "./live";

addKeys();
start();
