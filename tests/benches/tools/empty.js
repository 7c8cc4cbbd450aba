function execute() {}
